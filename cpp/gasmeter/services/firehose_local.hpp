// Firehose for a rank's own memory, by regions. Memory that a transfer has used stays pinned, in a few long regions
// that grow together.
//
// The class is a registration cache over modelled addresses in which a miss joins its neighbours, up to the longest
// region. The pinner is paid at each pin and unpin (for instance, for creating and destroying a memory descriptor). A
// replaced region is unpinned at the next call of any kind, or with its last use. A transfer longer than a region is
// cut into pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/services/modelled_pins.hpp"

namespace gasmeter::services {

// Limits of GASNet's released portals-conduit: largest region in bytes, number of regions. 0: no limit.
struct FirehoseLimits {
  Bytes page = conduit::kPageBytes;
  Bytes region = Bytes{128} << 10U;
  std::uint64_t regions = 1024;
  std::uint64_t pages = 0;
};

template <Pinner P>
class LocalFirehoses {
 public:
  // The first part of a transfer, which one region holds.
  struct Piece {
    RegionNumber region = kNoRegion;  // kNoRegion: memory in use leaves no room; try again after a release
    Bytes bytes = 0;
    Bytes offset = 0;  // offset of the piece in the region
  };

  explicit LocalFirehoses(P pinner, const FirehoseLimits& limits = {})
      : page_(limits.page),
        longest_(longest(limits)),
        pins_(std::move(pinner), {limits.page, limits.pages, limits.regions},
              {.merged = longest_ / limits.page, .deferred = true}) {}

  void place_segment(std::span<const std::byte> segment) { pins_.place_segment(segment); }
  [[nodiscard]] bool is_segment(const void* memory, Bytes bytes) const { return pins_.is_segment(memory, bytes); }

  // Return the modelled address of memory. Pinners derive its pages from this address.
  [[nodiscard]] std::uint64_t address(const void* memory, Bytes bytes) { return pins_.address(memory, bytes); }

  // Acquire the first piece of the rest of a transfer, 1 byte or more. A transfer whose pages fit one region is one
  // piece, wherever it begins.
  [[nodiscard]] Piece acquire(const void* memory, Bytes left) {
    pins_.cache().undo_replaced();
    const std::uint64_t address =
        pins_.address(memory, left);  // the whole rest, since separate pieces that only meet would count as two objects
    const Bytes bytes = std::min(left, longest_ - address % page_);
    const RegionNumber region = pins_.cache().acquire(conduit::pages_of(address, bytes, page_));
    if (region == kNoRegion) return {};
    return {region, bytes, address - pins_.cache().pages(region).first * page_};
  }
  void release(RegionNumber region) {
    pins_.cache().undo_replaced();
    pins_.release(region);
  }
  // Note that the memory has been freed.
  void forget(std::span<const std::byte> memory) { pins_.forget(memory); }

  [[nodiscard]] Bytes longest_region() const { return longest_; }
  // Return the longest transfer that is one piece wherever it begins.
  [[nodiscard]] Bytes longest_piece() const { return longest_ - page_; }
  [[nodiscard]] RegistrationCache<P>& cache() { return pins_.cache(); }
  [[nodiscard]] const CacheCounters& counters() const { return pins_.counters(); }

 private:
  // Return the longest region allowed. The limit of all pages may be below the limit of a region.
  [[nodiscard]] static Bytes longest(const FirehoseLimits& limits) {
    if (limits.page == 0 || limits.region < 2 * limits.page || limits.region % limits.page != 0) {
      throw UsageError("firehose: regions of at most " + std::to_string(limits.region) +
                       " B; allowed are whole pages of " + std::to_string(limits.page) + " B, 2 or more");
    }
    return limits.pages == 0 ? limits.region : std::min(limits.region, limits.pages * limits.page);
  }

  Bytes page_;
  Bytes longest_;
  AddressedPins<P> pins_;
};

}  // namespace gasmeter::services

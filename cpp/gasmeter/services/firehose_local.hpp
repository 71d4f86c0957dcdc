// Firehose for a rank's own memory, by regions: what a transfer reads from or writes to stays pinned when it ends, in a
// few long regions that grow together.
//
// A registration cache over modelled addresses whose misses join their neighbours, up to the longest region. Whoever
// pins (creates and destroys memory descriptors, say) is paid at each pin and unpin; what a new region replaces is
// unpinned at the next call of any kind, or with its last use. A transfer that is longer than a region is one of
// several pieces.
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

// As GASNet's portals-conduit has them (protocol_constants: Firehose largest region, region count). 0: no limit.
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
    RegionNumber region = kNoRegion;  // none: what is in use leaves no room; try again after a release
    Bytes bytes = 0;
    Bytes offset = 0;  // in the region
  };

  explicit LocalFirehoses(P pinner, const FirehoseLimits& limits = {})
      : page_(limits.page),
        longest_(longest(limits)),
        pins_(std::move(pinner), {limits.page, limits.pages, limits.regions},
              {.merged = longest_ / limits.page, .deferred = true}) {}

  void place_segment(std::span<const std::byte> segment) { pins_.place_segment(segment); }
  [[nodiscard]] bool is_segment(const void* memory, Bytes bytes) const { return pins_.is_segment(memory, bytes); }

  // Of the model, where pinners find their pages.
  [[nodiscard]] std::uint64_t address(const void* memory, Bytes bytes) { return pins_.address(memory, bytes); }

  // Of all that is left of a transfer, 1 byte or more. A transfer that with its pages is no longer than a region is one
  // piece, wherever it begins.
  [[nodiscard]] Piece acquire(const void* memory, Bytes left) {
    pins_.cache().undo_replaced();
    const std::uint64_t address =
        pins_.address(memory, left);  // of all of it: pieces that only meet are of two objects
    const Bytes bytes = std::min(left, longest_ - address % page_);
    const RegionNumber region = pins_.cache().acquire(conduit::pages_of(address, bytes, page_));
    if (region == kNoRegion) return {};
    return {region, bytes, address - pins_.cache().pages(region).first * page_};
  }
  void release(RegionNumber region) {
    pins_.cache().undo_replaced();
    pins_.release(region);
  }
  // The memory has been freed.
  void forget(std::span<const std::byte> memory) { pins_.forget(memory); }

  [[nodiscard]] Bytes longest_region() const { return longest_; }
  // Of a transfer that is one piece wherever it begins.
  [[nodiscard]] Bytes longest_piece() const { return longest_ - page_; }
  [[nodiscard]] RegistrationCache<P>& cache() { return pins_.cache(); }
  [[nodiscard]] const CacheCounters& counters() const { return pins_.counters(); }

 private:
  // A limit of all pages may be less than a region.
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

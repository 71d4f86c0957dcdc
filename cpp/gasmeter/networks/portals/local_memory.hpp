// Memory of a transfer's own side, as Portals needs it. The memory lies in the segment's descriptor, in a buffer, in a
// descriptor made for the transfer (TMPMD), or in Firehose regions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/networks/portals/portals.hpp"
#include "gasmeter/networks/portals/portals_options.hpp"
#include "gasmeter/services/firehose_local.hpp"

namespace gasmeter::networks::portals {

// Makes and ends the descriptors of regions. Portals charges their price.
class MdPinner {
 public:
  using Handle = MdHandle;

  // `origin`: where the model's address 0 would lie for the object that is pinned next.
  MdPinner(Portals& portals, const EqHandle& events, const std::uintptr_t& origin)
      : portals_(portals), events_(events), origin_(origin) {}

  std::optional<MdHandle> pin(const conduit::Pages& pages);
  void unpin(const conduit::Pages& pages, MdHandle md);

 private:
  Portals& portals_;
  const EqHandle& events_;
  const std::uintptr_t& origin_;
};

struct LocalCounters {
  std::uint64_t bounced = 0;
  std::uint64_t temporary = 0;  // descriptors
};

class LocalMemory {
 public:
  // `events`: queue of the descriptors that this object makes.
  LocalMemory(Portals& portals, const PortalsOptions& options, EqHandle events);

  // Memory of one Portals operation.
  struct Piece {
    MdHandle md;
    Bytes offset = 0;
    Bytes bytes = 0;
    std::uint32_t region = 0;   // of Firehose, from 1; 0: none
    bool is_temporary = false;  // the descriptor ends with the operation
  };

  void place_segment(std::span<std::byte> segment, MdHandle md);
  [[nodiscard]] bool is_inside(const void* memory, Bytes bytes) const;
  [[nodiscard]] bool bounces(const void* memory, Bytes bytes) const {
    return bytes <= options_.bounce_limit && !is_inside(memory, bytes);
  }
  // Portals operations that a transfer may need.
  [[nodiscard]] unsigned most_pieces(const void* memory, Bytes bytes) const;
  // Get the next piece of a transfer that has `left` bytes left and does not bounce. A piece without a descriptor means
  // that the regions in use leave no room.
  [[nodiscard]] Piece acquire(const void* memory, Bytes left);
  // Release the memory of an operation that has ended.
  void release(MdHandle md, std::uint32_t region);
  void forget(std::span<const std::byte> memory);

  [[nodiscard]] Bytes most_bytes(unsigned pieces) const;
  [[nodiscard]] services::CacheCounters regions() const;
  [[nodiscard]] LocalCounters& counters() { return counters_; }
  [[nodiscard]] const LocalCounters& counters() const { return counters_; }

 private:
  [[nodiscard]] services::LocalFirehoses<MdPinner>& firehoses();

  Portals& portals_;
  PortalsOptions options_;
  EqHandle events_;
  std::span<std::byte> segment_;
  MdHandle segment_md_;
  std::uintptr_t origin_ = 0;
  std::optional<services::LocalFirehoses<MdPinner>> firehoses_;  // made by the first transfer that needs it
  LocalCounters counters_;
};

}  // namespace gasmeter::networks::portals

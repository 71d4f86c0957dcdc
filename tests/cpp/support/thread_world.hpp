// Memory of ranks that are threads of this process: one block, mapped once or once per rank.
#pragma once

#include <cstdint>
#include <vector>

#include "gasmeter/core/endpoint.hpp"
#include "support/shared_block.hpp"

namespace gasmeter::testing {

// `each`: every rank has its own mapping, so that addresses of segments must be translated.
enum class Mapping : std::uint8_t { one, each };

[[nodiscard]] inline core::NeighbourhoodLayout layout_of(std::uint32_t ranks, Bytes ring_bytes, Bytes segment_bytes) {
  return {ranks, ring_bytes, core::ring::round_up(segment_bytes, core::NeighbourhoodLayout::kPage)};
}

class ThreadWorld {
 public:
  ThreadWorld(const core::NeighbourhoodLayout& layout, Mapping mapping) : layout_(layout), memory_(layout.total()) {
    for (std::uint32_t rank = 0; rank < layout.ranks; ++rank) {
      blocks_.push_back(rank == 0 || mapping == Mapping::each ? memory_.map() : blocks_.front());
      segments_.push_back({blocks_.back() + layout.segment_at(rank), layout.segment_bytes});
    }
  }

  // Return a view, valid as long as this object.
  [[nodiscard]] core::JobView view(std::uint32_t rank) const {
    return {Rank{rank}, layout_.ranks, Rank{0}, layout_, blocks_[rank], segments_};
  }

 private:
  core::NeighbourhoodLayout layout_;
  SharedBlock memory_;
  std::vector<std::byte*> blocks_;
  std::vector<core::Segment> segments_;
};

}  // namespace gasmeter::testing

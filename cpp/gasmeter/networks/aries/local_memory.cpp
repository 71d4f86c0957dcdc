#include "gasmeter/networks/aries/local_memory.hpp"

namespace gasmeter::networks::aries {

void LocalMemory::place_segment(std::span<std::byte> segment, MemoryHandle handle) {
  pins_.place_segment(segment);
  segment_ = handle;
}

bool LocalMemory::reach(const void* memory, Bytes bytes, Reached& reached) {
  if (is_inside(memory, bytes)) {
    reached = {segment_, services::kNoRegion};
    return true;
  }
  const services::RegionNumber region = pins_.acquire(memory, bytes);
  if (region == services::kNoRegion) return false;
  // The post reads or writes the memory. A handle has one pointer for both.
  auto* const start = static_cast<std::byte*>(const_cast<void*>(memory));
  reached = {domain_.admit({start, bytes}), region};
  return true;
}

void LocalMemory::leave(const Reached& reached) {
  if (reached.region == services::kNoRegion) return;
  domain_.dismiss(reached.handle);
  pins_.release(reached.region);
}

}  // namespace gasmeter::networks::aries

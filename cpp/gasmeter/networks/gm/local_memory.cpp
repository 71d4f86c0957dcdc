#include "gasmeter/networks/gm/local_memory.hpp"

#include <algorithm>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::gm {

LocalMemory::LocalMemory(GmPort& port, sim::ModelHost host, const conduit::PinLimits& limits,
                         std::span<const std::byte> segment)
    : port_(port), pins_(host, limits) {
  if (!segment.empty()) pins_.place_segment(segment);
}

bool LocalMemory::reach(const void* memory, Bytes bytes, Reached& reached) {
  reached.region = pins_.acquire(memory, bytes);
  if (reached.region == services::kNoRegion) return false;
  // The transfer reads or writes the memory. The card knows one kind of memory.
  reached.memory = {static_cast<std::byte*>(const_cast<void*>(memory)), bytes};
  port_.admit(reached.memory);
  return true;
}

void LocalMemory::leave(const Reached& reached) {
  port_.dismiss(reached.memory);
  pins_.release(reached.region);
}

Status LocalMemory::pin(std::span<std::byte> memory, conduit::Pin& pinned) {
  Reached reached;
  if (!reach(memory.data(), memory.size(), reached)) return Status::no_resource;
  auto free = std::find_if(pinned_.begin(), pinned_.end(),
                           [](const Reached& each) { return each.region == services::kNoRegion; });
  if (free == pinned_.end()) free = pinned_.insert(free, Reached{});
  *free = reached;
  pinned = conduit::Pin{static_cast<std::uint32_t>(free - pinned_.begin())};
  return Status::ok;
}

void LocalMemory::unpin(conduit::Pin pinned) {
  const auto which = static_cast<std::size_t>(pinned);
  if (which >= pinned_.size() || pinned_[which].region == services::kNoRegion) {
    throw UsageError("gm: memory " + std::to_string(which) + " is unpinned, which is not pinned; unpin each pin once");
  }
  leave(pinned_[which]);
  pinned_[which] = {};
}

}  // namespace gasmeter::networks::gm

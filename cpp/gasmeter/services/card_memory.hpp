// Memory of a rank outside its segment that its card may reach while a transfer or a pin uses it. A registration stays
// until its room is needed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/status.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/services/modelled_pins.hpp"

namespace gasmeter::services {

// `Card` admits and dismisses memory, free of charge. `P` charges the prices of registration.
template <class Card, Pinner P = PricedPinner>
class CardMemory {
 public:
  // `network` is the name used in error messages. The card outlives this object.
  CardMemory(const char* network, Card& card, P pinner, const conduit::PinLimits& limits)
      : network_(network), card_(card), pins_(std::move(pinner), limits) {}

  // Memory that one transfer or pin uses, until leave(). kNoRegion: nothing is used.
  struct Reached {
    RegionNumber region = kNoRegion;
    std::span<std::byte> memory{};
  };

  void place_segment(std::span<const std::byte> segment) { pins_.place_segment(segment); }
  // Tell whether memory lies in the segment, which stays registered for ever. Other memory loses its registration when
  // the room is needed, so each transfer calls reach() itself.
  [[nodiscard]] bool is_segment(const void* memory, Bytes bytes) const { return pins_.is_segment(memory, bytes); }
  // Register `bytes` bytes, 1 or more, if necessary. Return false, and charge nothing, if the regions in use leave no
  // room.
  [[nodiscard]] bool reach(const void* memory, Bytes bytes, Reached& reached) {
    reached.region = pins_.acquire(memory, bytes);
    if (reached.region == kNoRegion) return false;
    // The transfer reads or writes the memory. The card knows one kind of memory.
    reached.memory = {static_cast<std::byte*>(const_cast<void*>(memory)), bytes};
    card_.admit(reached.memory);
    return true;
  }
  void leave(const Reached& reached) {
    if (reached.region == kNoRegion) return;
    card_.dismiss(reached.memory);
    pins_.release(reached.region);
  }

  // Pin as Conduit defines.
  Status pin(std::span<std::byte> memory, conduit::Pin& pinned) {
    Reached reached;
    if (!reach(memory.data(), memory.size(), reached)) return Status::no_resource;
    auto free =
        std::find_if(pinned_.begin(), pinned_.end(), [](const Reached& each) { return each.region == kNoRegion; });
    if (free == pinned_.end()) free = pinned_.insert(free, Reached{});
    *free = reached;
    pinned = conduit::Pin{static_cast<std::uint32_t>(free - pinned_.begin())};
    return Status::ok;
  }
  // Unpin as Conduit defines. Return the memory of the pin.
  std::span<std::byte> unpin(conduit::Pin pinned) {
    const auto which = static_cast<std::size_t>(pinned);
    if (which >= pinned_.size() || pinned_[which].region == kNoRegion) {
      throw UsageError(std::string(network_) + ": memory " + std::to_string(which) +
                       " is unpinned, which is not pinned; unpin each pin once");
    }
    const Reached reached = std::exchange(pinned_[which], {});
    leave(reached);
    return reached.memory;
  }
  void forget(std::span<const std::byte> memory) { pins_.forget(memory); }

  [[nodiscard]] const CacheCounters& counters() const { return pins_.counters(); }

 private:
  const char* network_;
  Card& card_;
  AddressedPins<P> pins_;
  std::vector<Reached> pinned_;  // by number; an entry without a region is free
};

}  // namespace gasmeter::services

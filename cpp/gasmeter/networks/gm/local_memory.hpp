// Memory of a rank outside its segment that the card may reach while a transfer or a pin uses it. A registration stays
// until its room is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gasmeter/base/status.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/networks/gm/gm_port.hpp"
#include "gasmeter/services/modelled_pins.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::gm {

class LocalMemory {
 public:
  LocalMemory(GmPort& port, sim::ModelHost host, const conduit::PinLimits& limits, std::span<const std::byte> segment);

  // Memory of one use, until leave().
  struct Reached {
    services::RegionNumber region = services::kNoRegion;
    std::span<std::byte> memory{};
  };

  // Tell whether memory lies in the segment, which stays registered for ever. Other memory loses its registration when
  // the room is needed, so each transfer calls reach() itself.
  [[nodiscard]] bool is_segment(const void* memory, Bytes bytes) const { return pins_.is_segment(memory, bytes); }
  // Register `bytes` bytes, 1 or more, if necessary. Return false, and charge nothing, if the regions in use leave no
  // room.
  [[nodiscard]] bool reach(const void* memory, Bytes bytes, Reached& reached);
  void leave(const Reached& reached);

  // Pin and unpin as Conduit defines.
  Status pin(std::span<std::byte> memory, conduit::Pin& pinned);
  void unpin(conduit::Pin pinned);
  void forget(std::span<const std::byte> memory) { pins_.forget(memory); }

  [[nodiscard]] const services::CacheCounters& counters() const { return pins_.counters(); }

 private:
  GmPort& port_;
  services::ModelledPins pins_;
  std::vector<Reached> pinned_;  // by number; an entry without a region is free
};

}  // namespace gasmeter::networks::gm

// Memory of a transfer's own side, as the card needs it: in the segment, or registered for the transfer. A registration
// stays until another one needs its place (UDREG).
#pragma once

#include <cstddef>
#include <span>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/aries/aries_options.hpp"
#include "gasmeter/networks/aries/domain.hpp"
#include "gasmeter/services/modelled_pins.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::aries {

class LocalMemory {
 public:
  LocalMemory(Domain& domain, sim::ModelHost host, const AriesOptions& options)
      : domain_(domain), pins_(host, {.regions = options.registrations}) {}

  // Memory that the card may reach, until leave().
  struct Reached {
    MemoryHandle handle{};
    services::RegionNumber region = services::kNoRegion;  // kNoRegion: the memory is in the segment
  };

  void place_segment(std::span<std::byte> segment, MemoryHandle handle);
  [[nodiscard]] bool is_inside(const void* memory, Bytes bytes) const { return pins_.is_segment(memory, bytes); }
  // Register `bytes` bytes, 1 or more, if necessary. Return false, and charge nothing, if the regions in use leave no
  // room.
  [[nodiscard]] bool reach(const void* memory, Bytes bytes, Reached& reached);
  void leave(const Reached& reached);
  void forget(std::span<const std::byte> memory) { pins_.forget(memory); }

  [[nodiscard]] const services::CacheCounters& counters() const { return pins_.counters(); }

 private:
  Domain& domain_;
  services::ModelledPins pins_;
  MemoryHandle segment_;
};

}  // namespace gasmeter::networks::aries

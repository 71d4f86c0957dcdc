// Where a transfer's own side lies for the card: in the segment, or in memory that is registered for it and stays so
// until others need its place (UDREG).
#pragma once

#include <cstddef>
#include <span>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/aries/aries_options.hpp"
#include "gasmeter/networks/aries/domain.hpp"
#include "gasmeter/services/modelled_pins.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::aries {

class LocalMemory {
 public:
  LocalMemory(Domain& domain, sim::ModelHost host, const AriesOptions& options)
      : domain_(domain), pins_(host, {.regions = options.registrations}) {}

  // Memory that the card may reach, until leave().
  struct Reached {
    MemoryHandle handle{};
    services::RegionNumber region = services::kNoRegion;  // none: it is the segment
  };

  void place_segment(std::span<std::byte> segment, MemoryHandle handle);
  [[nodiscard]] bool is_inside(const void* memory, Bytes bytes) const { return pins_.is_segment(memory, bytes); }
  // 1 byte or more. False: what is in use leaves no room; nothing was charged.
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

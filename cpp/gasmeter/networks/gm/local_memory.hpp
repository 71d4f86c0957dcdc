// Memory of a rank outside its segment that the card may reach while a transfer or a pin uses it: registered, and kept
// so until its room is wanted.
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

  // What a use has, until leave().
  struct Reached {
    services::RegionNumber region = services::kNoRegion;
    std::span<std::byte> memory{};
  };

  // What a use has had registered is so no longer when that ends, whoever else finds it registered now.
  [[nodiscard]] bool is_segment(const void* memory, Bytes bytes) const { return pins_.is_segment(memory, bytes); }
  // 1 byte or more. False: what is in use leaves no room; nothing was charged.
  [[nodiscard]] bool reach(const void* memory, Bytes bytes, Reached& reached);
  void leave(const Reached& reached);

  // As Conduit has them.
  Status pin(std::span<std::byte> memory, conduit::Pin& pinned);
  void unpin(conduit::Pin pinned);
  void forget(std::span<const std::byte> memory) { pins_.forget(memory); }

  [[nodiscard]] const services::CacheCounters& counters() const { return pins_.counters(); }

 private:
  GmPort& port_;
  services::ModelledPins pins_;
  std::vector<Reached> pinned_;  // by number; without a region: free
};

}  // namespace gasmeter::networks::gm

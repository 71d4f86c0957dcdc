// Memory that puts of two-sided messages read or write, registered with their device at the host's prices: anew for
// each use, or once, and kept so in a cache.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/services/message_device.hpp"
#include "gasmeter/services/modelled_pins.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::services {

// Of one rank, whose device it is. A cache has no limit: ranks whose sends fill it while they wait to be cleared, by
// peers that have no room for their receives either, would wait for each other for ever.
class MessageMemory {
 public:
  MessageMemory(sim::ModelHost host, MessageDevice& device, bool is_cached) : host_(host), device_(device) {
    if (is_cached) pins_.emplace(host);
  }

  // For one use, until unpin(). Without a cache by whole pages of its length, wherever it lies: the same program costs
  // the same in every process.
  void pin(std::span<std::byte> memory, RegionNumber& region) {
    region = kNoRegion;
    if (pins_) {
      region = pins_->acquire(memory.data(), memory.size());
    } else {
      host_.charge_shared(conduit::SharedPrice::registration, conduit::whole_pages(memory.size()));
    }
    host_.synchronise();
    device_.admit(memory);
  }
  void unpin(std::span<std::byte> memory, RegionNumber region) {
    if (pins_) {
      pins_->release(region);
    } else {
      host_.charge_shared(conduit::SharedPrice::deregistration, conduit::whole_pages(memory.size()));
    }
    host_.synchronise();
    device_.dismiss(memory);
  }
  // The memory has been freed.
  void forget(std::span<const std::byte> memory) {
    if (pins_) pins_->forget(memory);
  }

 private:
  sim::ModelHost host_;
  MessageDevice& device_;
  std::optional<ModelledPins> pins_;
};

}  // namespace gasmeter::services

// Memory that puts of two-sided messages read or write, registered with their device at the host's prices. It is
// registered anew for each use, or once and then kept in a cache.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/services/message_device.hpp"
#include "gasmeter/services/modelled_pins.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::services {

// The registered memory of one rank and its device. The cache has no limit. Sends could fill a limited one while they
// wait for peers whose receives find no room either, and all ranks would wait for ever.
class MessageMemory {
 public:
  MessageMemory(sim::ModelHost host, MessageDevice& device, bool is_cached) : host_(host), device_(device) {
    if (is_cached) pins_.emplace(host);
  }

  // Register memory for one use, until unpin(). Without a cache the price counts the whole pages of its length,
  // wherever it begins, so that a program costs the same in every process.
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
  // Note that the memory has been freed.
  void forget(std::span<const std::byte> memory) {
    if (pins_) pins_->forget(memory);
  }

 private:
  sim::ModelHost host_;
  MessageDevice& device_;
  std::optional<ModelledPins> pins_;
};

}  // namespace gasmeter::services

// Transfers that must not wait and have begun some parts only. Every poll begins further parts while the network has
// room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "gasmeter/core/background.hpp"

namespace gasmeter::core {

// Late parts of one endpoint, in front of its conduit from the first one on. Other endpoints pay nothing. Only one
// thread may drive an endpoint that has a conduit.
class LateParts {
 public:
  // Begin the part with this number. Return false if the network has no room; then nothing has happened.
  using Begin = std::function<bool(std::uint32_t part)>;

  // Insert the object in front of `conduit`, which belongs to an endpoint and is not null.
  explicit LateParts(conduit::Conduit*& conduit)
      : background_(conduit, [](void* self) { return static_cast<LateParts*>(self)->step(); }, this) {
    conduit = &background_;
  }

  // Add the parts from `next` on, to be begun in order.
  void add(std::uint32_t next, std::uint32_t parts, Begin begin) {
    transfers_.push_back({next, parts, std::move(begin)});
  }

 private:
  struct Transfer {
    std::uint32_t next;
    std::uint32_t parts;
    Begin begin;
  };

  unsigned step() {
    unsigned begun = 0;
    for (Transfer& transfer : transfers_) {
      for (; transfer.next != transfer.parts && transfer.begin(transfer.next); ++transfer.next) ++begun;
    }
    std::erase_if(transfers_, [](const Transfer& transfer) { return transfer.next == transfer.parts; });
    return begun;
  }

  Background background_;
  std::vector<Transfer> transfers_;  // oldest first
};

}  // namespace gasmeter::core

// Transfers that may not wait and of which some parts have left: every poll begins further parts, until the network has
// no room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "gasmeter/core/background.hpp"

namespace gasmeter::core {

// The late parts of one endpoint, in front of its conduit once there is one: other endpoints pay nothing. No other
// thread may drive an endpoint that has a conduit.
class LateParts {
 public:
  // Begins the part of that number; false: the network has no room, nothing has happened.
  using Begin = std::function<bool(std::uint32_t part)>;

  // Takes its place at `conduit`, an endpoint's, which is not null.
  explicit LateParts(conduit::Conduit*& conduit)
      : background_(conduit, [](void* self) { return static_cast<LateParts*>(self)->step(); }, this) {
    conduit = &background_;
  }

  // Parts from `next` on, in turn.
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
  std::vector<Transfer> transfers_;  // by age
};

}  // namespace gasmeter::core

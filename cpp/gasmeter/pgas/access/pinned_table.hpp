// Pinned pieces of this rank's parts. A piece is pinned when another rank touches it first, and stays so until it is
// freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/conduit.hpp"

namespace gasmeter::pgas {

class PinnedTable {
 public:
  // With a null conduit, or one that does not pin, pieces are only counted.
  explicit PinnedTable(conduit::Conduit* conduit)
      : conduit_(conduit != nullptr && conduit->capabilities().native_pin ? conduit : nullptr) {}
  PinnedTable(const PinnedTable&) = delete;
  PinnedTable& operator=(const PinnedTable&) = delete;

  // Note that `memory`, a piece of an object's part, is touched, and pin it. Throw UsageError, in one line, if a limit
  // leaves no room.
  void touch(std::uint64_t object, std::uint32_t chunk, std::span<std::byte> memory) {
    const auto [at, is_new] = pins_.try_emplace({object, chunk});
    if (!is_new || conduit_ == nullptr || memory.empty()) return;
    conduit::Pin pin{};
    Status status = Status::no_resource;
    try {
      status = conduit_->pin(memory, pin);
    } catch (...) {
      pins_.erase(at);
      throw;
    }
    if (status != Status::ok) {
      pins_.erase(at);
      throw UsageError("pinned table: no room for " + std::to_string(memory.size()) + " bytes beside the " +
                       std::to_string(pins_.size()) + " pieces that are pinned; the device holds at most " +
                       std::to_string(conduit_->capabilities().pins.pages) + " pages of " +
                       std::to_string(conduit_->capabilities().pins.page) + " B");
    }
    at->second = {pin, true};
  }
  // Unpin all pieces of an object.
  void release(std::uint64_t object) {
    auto at = pins_.lower_bound({object, 0});
    while (at != pins_.end() && at->first.first == object) {
      if (at->second.is_pinned) conduit_->unpin(at->second.pin);
      at = pins_.erase(at);
    }
  }
  [[nodiscard]] std::uint64_t size() const { return pins_.size(); }

 private:
  struct Held {
    conduit::Pin pin{};
    bool is_pinned = false;
  };
  conduit::Conduit* conduit_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, Held> pins_;
};

}  // namespace gasmeter::pgas

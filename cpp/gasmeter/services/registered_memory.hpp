// The memory of one rank that its modelled device may access, on behalf of any rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::services {

// Only code on the rank's node may touch it. The caller charges the prices of registration.
class RegisteredMemory {
 public:
  // `network` is the name used in error messages.
  RegisteredMemory(const char* network, Rank owner) : network_(network), owner_(owner) {}

  void admit(std::span<std::byte> memory) { pieces_.push_back(memory); }
  // Undo one admit(). Throw UsageError for memory that was not admitted as one piece.
  void dismiss(std::span<const std::byte> memory);
  [[nodiscard]] bool holds(const void* memory, Bytes bytes) const {
    const auto first = reinterpret_cast<std::uintptr_t>(memory);
    for (const std::span<std::byte>& each : pieces_) {
      const auto begin = reinterpret_cast<std::uintptr_t>(each.data());
      if (first >= begin && first - begin <= each.size() && bytes <= each.size() - (first - begin)) return true;
    }
    return false;
  }
  // Throw UsageError for other memory. `what` of rank `by` is named as the access.
  void require(const void* memory, Bytes bytes, const char* access, Rank by) const {
    if (!holds(memory, bytes)) refuse(bytes, access, by);
  }

 private:
  [[noreturn]] void refuse(Bytes bytes, const char* access, Rank by) const;

  const char* network_;
  Rank owner_;
  std::vector<std::span<std::byte>> pieces_;
};

}  // namespace gasmeter::services

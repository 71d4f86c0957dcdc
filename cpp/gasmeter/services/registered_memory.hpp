// Memory of one rank that its modelled device may reach, whoever asks the device to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::services {

// Touched on the rank's node alone. Prices are whoever's registers.
class RegisteredMemory {
 public:
  // `network`: for messages.
  RegisteredMemory(const char* network, Rank owner) : network_(network), owner_(owner) {}

  void admit(std::span<std::byte> memory) { pieces_.push_back(memory); }
  // Takes that back, once. Throws UsageError for what was not admitted as one.
  void dismiss(std::span<const std::byte> memory);
  [[nodiscard]] bool holds(const void* memory, Bytes bytes) const {
    const auto first = reinterpret_cast<std::uintptr_t>(memory);
    for (const std::span<std::byte>& each : pieces_) {
      const auto begin = reinterpret_cast<std::uintptr_t>(each.data());
      if (first >= begin && first - begin <= each.size() && bytes <= each.size() - (first - begin)) return true;
    }
    return false;
  }
  // Throws UsageError for other memory: `by` is whose `what` reaches it.
  void require(const void* memory, Bytes bytes, const char* what, Rank by) const {
    if (!holds(memory, bytes)) refuse(bytes, what, by);
  }

 private:
  [[noreturn]] void refuse(Bytes bytes, const char* what, Rank by) const;

  const char* network_;
  Rank owner_;
  std::vector<std::span<std::byte>> pieces_;
};

}  // namespace gasmeter::services

// Set of the datagrams that have arrived from one peer. It accepts every sequence once, in any order.
#pragma once

#include <array>
#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::udp {

class ReceiveWindow {
 public:
  static constexpr std::uint64_t kSpan = 256;  // limit of a sequence's distance from the oldest missing one

  explicit ReceiveWindow(std::uint64_t first_sequence) : expected_(first_sequence), end_(first_sequence) {}

  enum class Arrival : std::uint8_t { fresh, duplicate, beyond };

  // Sequences wrap around. A peer is never more than kSpan ahead.
  [[nodiscard]] Arrival look(std::uint64_t sequence) const {
    const std::uint64_t ahead = sequence - expected_;
    if (ahead >= std::uint64_t{1} << 63) return Arrival::duplicate;
    if (ahead >= kSpan) return Arrival::beyond;
    return has(sequence) ? Arrival::duplicate : Arrival::fresh;
  }
  void accept(std::uint64_t sequence) {
    if (sequence - expected_ >= end_ - expected_) end_ = sequence + 1;
    set(sequence);
    while (expected_ != end_ && has(expected_)) {
      clear(expected_);
      ++expected_;
    }
  }

  [[nodiscard]] std::uint64_t expected() const { return expected_; }
  [[nodiscard]] bool has_gap() const { return expected_ != end_; }
  // Bit i is set if sequence expected() + 1 + i has arrived.
  [[nodiscard]] std::uint64_t selective() const {
    std::uint64_t bits = 0;
    for (std::uint64_t i = 0; i < 64 && i + 1 < end_ - expected_; ++i) {
      bits |= static_cast<std::uint64_t>(has(expected_ + 1 + i)) << i;
    }
    return bits;
  }

 private:
  [[nodiscard]] bool has(std::uint64_t sequence) const {
    return ((bits_[(sequence / 64) % kWords] >> (sequence % 64)) & 1U) != 0;
  }
  void set(std::uint64_t sequence) { bits_[(sequence / 64) % kWords] |= std::uint64_t{1} << (sequence % 64); }
  void clear(std::uint64_t sequence) { bits_[(sequence / 64) % kWords] &= ~(std::uint64_t{1} << (sequence % 64)); }

  static constexpr std::uint64_t kWords = kSpan / 64;
  std::array<std::uint64_t, kWords> bits_{};
  std::uint64_t expected_;  // oldest sequence that has not arrived
  std::uint64_t end_;       // sequence behind the newest that has
};

}  // namespace gasmeter::networks::udp

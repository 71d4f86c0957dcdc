// The set of prices that a rank has been charged.
//
// Virtual time is deterministic and depends on no price outside this set. Two machines give the same picoseconds if
// they differ only in prices that no rank was charged on one of them.
#pragma once

#include <cstdint>

#include "gasmeter/conduit/host.hpp"

namespace gasmeter::conduit {

class Charges {
 public:
  // `cached`: the price was that of a table that fits the caches.
  void add(PrivatePrice price, bool cached = false) { bits_ |= cached ? kCached : bit(price); }
  void add(SharedPrice price) { bits_ |= bit(price); }
  void add_copy() { bits_ |= kCopy; }
  void add_memory() { bits_ |= kMemory; }  // memory bandwidth that ranks of a node share
  void add(const Charges& others) { bits_ |= others.bits_; }

  [[nodiscard]] bool has(PrivatePrice price) const { return (bits_ & bit(price)) != 0; }
  [[nodiscard]] bool has(SharedPrice price) const { return (bits_ & bit(price)) != 0; }
  [[nodiscard]] bool has_cached() const { return (bits_ & kCached) != 0; }
  [[nodiscard]] bool has_copy() const { return (bits_ & kCopy) != 0; }
  [[nodiscard]] bool has_memory() const { return (bits_ & kMemory) != 0; }

 private:
  // Without `instruction`, which shares a bit (see below)
  static constexpr unsigned kPrivate = static_cast<unsigned>(PrivatePrice::count_) - 1;
  static constexpr unsigned kShared = static_cast<unsigned>(SharedPrice::count_);
  static constexpr unsigned kUntold = 2;  // nic_post and nic_take (see below)
  static constexpr std::uint32_t kCopy = 1U << (kPrivate + kShared - kUntold);
  static constexpr std::uint32_t kMemory = kCopy << 1U;
  static constexpr std::uint32_t kCached = kCopy << 2U;
  static_assert(kPrivate + kShared - kUntold + 3 <= 32);

  // A program's instructions and those of descriptions have one key, and so one bit.
  [[nodiscard]] static constexpr std::uint32_t bit(PrivatePrice price) {
    static_assert(static_cast<unsigned>(PrivatePrice::instruction) == kPrivate);
    return 1U << static_cast<unsigned>(price == PrivatePrice::instruction ? PrivatePrice::describe : price);
  }
  // nic_post and nic_take have no bit. No report says that their keys were not charged, so that machines that differ
  // in these keys are always run separately.
  [[nodiscard]] static constexpr std::uint32_t bit(SharedPrice price) {
    if (price == SharedPrice::nic_post || price == SharedPrice::nic_take) return 0;
    const unsigned before = price > SharedPrice::nic_take ? kUntold : 0;
    return 1U << (kPrivate + static_cast<unsigned>(price) - before);
  }

  std::uint32_t bits_ = 0;
};

}  // namespace gasmeter::conduit

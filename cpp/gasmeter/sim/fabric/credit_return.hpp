// Credits: how the near end of a link learns of buffers that fall free at the far end.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::sim {

// Virtual channels that a link of any topology may have at most.
inline constexpr std::uint32_t kMostChannels = 2;

// A ring of credits, in order: each tells when a buffer is free for the near end, and in which channel. The ring lies
// with the far end, but the thread of the near end writes and reads it: every packet writes, few senders have to read.
// If another thread runs the far end, its credits come by Partition::send_credit().
//
// This class is a view. The rings of a node's links lie together, so that a packet touches little memory.
class CreditReturn {
 public:
  using Count = std::uint32_t;  // goes round
  using Word = std::uint64_t;   // an instant and a channel
  // Return the places of a ring for at most `credits` outstanding credits.
  [[nodiscard]] static constexpr std::uint32_t places(unsigned credits) { return std::bit_ceil(credits); }

  // `given`: credits that have come back so far; `read`: how many of them have been taken.
  CreditReturn(Count& given, Count& read, Word* ring, std::uint32_t places)
      : given_(given), read_(read), ring_(ring), mask_(places - 1) {}

  // Insert a credit in order, but not before the credits that the near end has taken. Its place is mostly the last.
  // `last` is the greatest credit given: the giver looks there and need not read the ring.
  static GASMETER_INLINE void give(Count& given, Word& last, Word* ring, std::uint32_t places, SimTime at,
                                   std::uint32_t channel) {
    const Word credit = word(at, channel);
    if (GASMETER_LIKELY(credit >= last)) {
      last = credit;
      ring[given++ & (places - 1)] = credit;
    } else {
      insert(given, ring, places, credit);
    }
  }
  // Add to `room`, by channel, the credits that have come back by now.
  GASMETER_INLINE void take(SimTime now, std::array<std::uint32_t, kMostChannels>& room) {
    const Word last = word(now, kMostChannels - 1);
    Count read = read_;
    std::uint32_t of_channel_1 = 0;
    for (; read != given_ && ring_[read & mask_] <= last; ++read) of_channel_1 += channel_of(ring_[read & mask_]);
    room[0] += read - read_ - of_channel_1;
    room[1] += of_channel_1;
    read_ = read;
  }
  // Call each(instant, channel) for all credits that have come back by now, in order.
  template <class Each>
  GASMETER_INLINE void take_each(SimTime now, Each&& each) {
    const Word last = word(now, kMostChannels - 1);
    for (; read_ != given_; ++read_) {
      const Word credit = ring_[read_ & mask_];
      if (credit > last) break;
      each(instant(credit), channel_of(credit));
    }
  }
  // Return the next credit of a channel; kNever: no credit is known.
  [[nodiscard]] SimTime next(std::uint32_t channel) const {
    for (Count place = read_; place != given_; ++place) {
      const Word credit = ring_[place & mask_];
      if (channel_of(credit) == channel) return instant(credit);
    }
    return kNever;
  }
  // Call each(instant, channel) for all credits that have not been taken, in order; its result is the new instant.
  template <class Each>
  void each(Each&& each) {
    for (Count place = read_; place != given_; ++place) {
      Word& credit = ring_[place & mask_];
      credit = word(each(instant(credit), channel_of(credit)), channel_of(credit));
    }
  }
  // Copy the credits that have not been taken to an empty ring of more places.
  void copy_to(Word* ring, std::uint32_t places) const {
    for (Count place = read_; place != given_; ++place) ring[place & (places - 1)] = ring_[place & mask_];
  }
  // Withdraw a credit that has been given but will not come.
  void withdraw(SimTime at, std::uint32_t channel) {
    Count place = read_;
    while (ring_[place & mask_] != word(at, channel)) ++place;
    for (--given_; place != given_; ++place) ring_[place & mask_] = ring_[(place + 1) & mask_];
  }

  [[nodiscard]] static constexpr Word word(SimTime at, std::uint32_t channel) {
    return static_cast<Word>(at.ps) << 1U | channel;
  }
  [[nodiscard]] static constexpr SimTime instant(Word word) { return {static_cast<std::int64_t>(word >> 1U)}; }
  [[nodiscard]] static constexpr std::uint32_t channel_of(Word word) { return static_cast<std::uint32_t>(word & 1U); }

 private:
  static_assert(kMostChannels == 2);
  static GASMETER_NOINLINE void insert(Count& given, Word* ring, std::uint32_t places, Word credit) {
    Count place = given++;
    const Count first = given - places;
    for (; place != first && ring[(place - 1) & (places - 1)] > credit; --place) {
      ring[place & (places - 1)] = ring[(place - 1) & (places - 1)];
    }
    ring[place & (places - 1)] = credit;
  }
  Count& given_;
  Count& read_;
  Word* ring_;
  std::uint32_t mask_;
};

}  // namespace gasmeter::sim

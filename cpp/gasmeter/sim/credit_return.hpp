// Buffers that fall free at the far end of a link, as the near end learns of it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::sim {

// Virtual channels of a link, at most, of any topology.
inline constexpr std::uint32_t kMostChannels = 2;

// A ring of credits: when a buffer is free for the near end, and of which channel; in order. Kept with the far end, but
// written and read by the thread of the near one: every packet writes, few senders have to read.
//
// A view. The rings of a node's links lie together: a packet touches as little as can be.
class CreditReturn {
 public:
  using Count = std::uint32_t;  // goes round
  using Word = std::uint64_t;   // an instant and a channel
  // Places of a ring for no more than so many credits that are out at a time.
  [[nodiscard]] static constexpr std::uint32_t places(unsigned credits) { return std::bit_ceil(credits); }

  // `given`: how many have come, `read`: how many of them have been taken, ever.
  CreditReturn(Count& given, Count& read, Word* ring, std::uint32_t places)
      : given_(given), read_(read), ring_(ring), mask_(places - 1) {}

  // Not before what the near end has taken. Most often its place is the last one.
  // `last` is the greatest one given: whoever gives looks there, and need not have read the ring.
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
  // Adds to `room`, by channel, what has come back by now.
  GASMETER_INLINE void take(SimTime now, std::array<std::uint32_t, kMostChannels>& room) {
    const Word last = word(now, kMostChannels - 1);
    Count read = read_;
    std::uint32_t of_channel_1 = 0;
    for (; read != given_ && ring_[read & mask_] <= last; ++read) of_channel_1 += channel_of(ring_[read & mask_]);
    room[0] += read - read_ - of_channel_1;
    room[1] += of_channel_1;
    read_ = read;
  }
  // each(instant, channel) is told of all that have come back by now, in order.
  template <class Each>
  GASMETER_INLINE void take_each(SimTime now, Each&& each) {
    const Word last = word(now, kMostChannels - 1);
    for (; read_ != given_; ++read_) {
      const Word credit = ring_[read_ & mask_];
      if (credit > last) break;
      each(instant(credit), channel_of(credit));
    }
  }
  // The next of a channel's to come; kNever: none is known.
  [[nodiscard]] SimTime next(std::uint32_t channel) const {
    for (Count place = read_; place != given_; ++place) {
      const Word credit = ring_[place & mask_];
      if (channel_of(credit) == channel) return instant(credit);
    }
    return kNever;
  }
  // each(instant, channel) is told of all that have not been taken, in order, and says when they come instead.
  template <class Each>
  void each(Each&& each) {
    for (Count place = read_; place != given_; ++place) {
      Word& credit = ring_[place & mask_];
      credit = word(each(instant(credit), channel_of(credit)), channel_of(credit));
    }
  }
  // Those that have not been taken, to a ring of more places that holds nothing.
  void copy_to(Word* ring, std::uint32_t places) const {
    for (Count place = read_; place != given_; ++place) ring[place & (places - 1)] = ring_[place & mask_];
  }
  // One that has been given and will not come after all.
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

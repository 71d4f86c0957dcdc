// Buffers that fall free at the far end of a link, as the near end learns of it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::sim {

// Virtual channels of a link, at most, of any topology.
inline constexpr std::uint32_t kMostChannels = 2;

// One buffer: when it is free for the near end, of which channel, and whether an event tells of it.
class Credit {
 public:
  Credit() = default;
  Credit(SimTime at, std::uint32_t channel, bool told)
      : word_(static_cast<std::uint64_t>(at.ps) | static_cast<std::uint64_t>(channel) << 62U |
              static_cast<std::uint64_t>(told) << 63U) {}
  [[nodiscard]] std::int64_t at() const { return static_cast<std::int64_t>(word_ & ((std::uint64_t{1} << 62U) - 1)); }
  [[nodiscard]] std::uint32_t channel() const { return static_cast<std::uint32_t>(word_ >> 62U) & 1U; }
  [[nodiscard]] bool told() const { return (word_ >> 63U) != 0; }

 private:
  std::uint64_t word_ = 0;
};
static_assert(kMostChannels == 2 && sizeof(Credit) == 8);

// A ring of credits, written by the node at the far end, read by the one at the near end, possibly on two threads. What
// is written in a window of time is for later windows: a reader that heeds only instants before the end of its own
// window sees the same whichever thread is ahead. Kept at the far end: every packet writes, few senders have to read.
//
// A view. The counts of a node's links lie together, and so do the rings: a packet touches as little as can be.
class CreditReturn {
 public:
  // How many have been given, ever; and in the highest bit whether the near end wants to be told.
  using Count = std::uint64_t;
  // Places of a ring for no more than so many credits that are out at a time.
  [[nodiscard]] static constexpr std::uint32_t places(unsigned credits) { return std::bit_ceil(credits); }

  CreditReturn(Count* count, Credit* ring, std::uint32_t places) : count_(count), ring_(ring), mask_(places - 1) {}

  // In no particular order. Whether the near end wants to be told.
  GASMETER_INLINE bool give(SimTime at, std::uint32_t channel) const {
    const Count count = *count_;
    const bool told = (count & kTold) != 0;
    ring_[count & mask_] = Credit(at, channel, told);
    std::atomic_ref(*count_).store(count + 1, std::memory_order_release);
    return told;
  }
  // From now on the near end is told, or no longer. By the far end.
  void tell(bool wanted) const {
    const Count given = *count_ & ~kTold;
    std::atomic_ref(*count_).store(given | (wanted ? kTold : 0), std::memory_order_release);
  }

  [[nodiscard]] Count given() const { return std::atomic_ref(*count_).load(std::memory_order_acquire) & ~kTold; }
  [[nodiscard]] Credit credit(Count number) const { return ring_[number & mask_]; }
  [[nodiscard]] std::uint32_t places() const { return mask_ + 1; }

 private:
  static constexpr Count kTold = Count{1} << 63U;

  Count* count_;
  Credit* ring_;
  std::uint32_t mask_;
};

// What the near end has read and not yet used. Buffers hold few packets: no heap is worth its while.
class CreditsComing {
 public:
  // Adds to `room`, by channel, what has come back by now.
  void take(const CreditReturn& from, SimTime now, std::array<std::uint32_t, kMostChannels>& room) {
    Kept kept{coming_.data() + count_, first_, next_, room};
    if (first_ <= now.ps) {
      kept.end = coming_.data();
      kept.first = kNever.ps;
      kept.next.fill(kNever.ps);
      for (std::size_t i = 0; i < count_; ++i) kept.add(coming_[i], now.ps);
    }
    const CreditReturn::Count given = from.given();
    for (CreditReturn::Count read = read_; read != given; ++read) {
      if (GASMETER_UNLIKELY(kept.end == coming_.data() + coming_.size())) kept.end = grow(kept.end);
      kept.add(from.credit(read), now.ps);
    }
    read_ = given;
    count_ = static_cast<std::size_t>(kept.end - coming_.data());
    first_ = kept.first;
    next_ = kept.next;
    room = kept.room;
  }
  // As take(); each(instant, channel) is told of every one, in no particular order.
  template <class Each>
  void take_each(const CreditReturn& from, SimTime now, Each&& each) {
    std::array<std::uint32_t, kMostChannels> none{};
    take(from, SimTime{-1}, none);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (coming_[i].at() <= now.ps) {
        each(SimTime{coming_[i].at()}, coming_[i].channel());
      } else {
        coming_[kept++] = coming_[i];
      }
    }
    forget_from(kept);
  }
  // One that will not come after all, although `from` says so.
  void withdraw(const CreditReturn& from, SimTime at, std::uint32_t channel) {
    std::array<std::uint32_t, kMostChannels> none{};
    take(from, SimTime{-1}, none);
    const auto end = coming_.begin() + static_cast<std::ptrdiff_t>(count_);
    const auto place = std::find_if(coming_.begin(), end, [at, channel](Credit credit) {
      return credit.at() == at.ps && credit.channel() == channel;
    });
    *place = coming_[count_ - 1];
    forget_from(count_ - 1);
  }
  // The next of a channel's that take() has seen and nobody tells of.
  [[nodiscard]] SimTime next(std::uint32_t channel) const { return {next_[channel]}; }

 private:
  static constexpr std::size_t kFew = 8;

  // Thousands of ranks have such links, and most of them read of a few at a time.
  GASMETER_NOINLINE Credit* grow(const Credit* end) {
    const std::ptrdiff_t kept = end - coming_.data();
    coming_.resize(std::max(kFew, 2 * coming_.size()));
    return coming_.data() + kept;
  }
  void forget_from(std::size_t count) {
    count_ = count;
    first_ = kNever.ps;
    next_.fill(kNever.ps);
    for (std::size_t i = 0; i < count_; ++i) {
      const Credit credit = coming_[i];
      first_ = std::min(first_, credit.at());
      if (!credit.told()) next_[credit.channel()] = std::min(next_[credit.channel()], credit.at());
    }
  }

  struct Kept {
    Credit* end;
    std::int64_t first;
    std::array<std::int64_t, kMostChannels> next;
    std::array<std::uint32_t, kMostChannels> room;

    // No branch: which ones are still to come nobody could predict.
    GASMETER_INLINE void add(Credit credit, std::int64_t now) {
      *end = credit;
      const std::uint32_t channel = credit.channel();
      const bool comes = credit.at() > now;
      const std::int64_t later = comes ? credit.at() : kNever.ps;
      end += comes ? 1 : 0;
      room[channel] += comes ? 0U : 1U;
      first = std::min(first, later);
      next[channel] = std::min(next[channel], credit.told() ? kNever.ps : later);
    }
  };

  CreditReturn::Count read_ = 0;
  std::int64_t first_ = kNever.ps;
  std::array<std::int64_t, kMostChannels> next_{kNever.ps, kNever.ps};
  std::size_t count_ = 0;
  std::vector<Credit> coming_;
};

}  // namespace gasmeter::sim

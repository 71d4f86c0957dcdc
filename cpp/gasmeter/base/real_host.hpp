// The host that is this machine: every call is the work itself.
#pragma once

#include <cstdint>
#include <cstring>

#include "gasmeter/base/clock.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/stamps.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter {

// How a rank waits. Ranks that own a core spin; ranks that share cores must give theirs away, or the peer never runs.
enum class WaitMode : std::uint8_t { spin, yield };

// Threads = false: one thread drives an endpoint, no locks. True: any thread may call it (GASNET_PAR).
// Stamped = true: the rank writes down what it does and when, for `gasmeter trace`.
template <bool Threads, bool Stamped = false>
class BasicRealHost {
 public:
  static constexpr bool kModelled = false;
  static constexpr bool kThreads = Threads;
  static constexpr bool kStamped = Stamped;

  explicit BasicRealHost(WaitMode mode = WaitMode::spin) : clock_(&Clock::calibrated()), mode_(mode) {}

  [[nodiscard]] GASMETER_INLINE SimTime now() const { return clock_->now(); }
  [[nodiscard]] GASMETER_INLINE SimTime read_clock() const { return now(); }
  GASMETER_INLINE void copy(void* to, const void* from, Bytes bytes) {
    stamp(kStampCopy);
    if (bytes != 0) std::memcpy(to, from, bytes);  // nothing may lie anywhere
  }
  template <class AnyPrice>
  GASMETER_INLINE void charge(AnyPrice price, Bytes = 0) {
    stamp(stamp_code(price));
  }
  template <class AnyPrice>
  GASMETER_INLINE void charge_shared(AnyPrice price, Bytes = 0) {
    stamp(stamp_code(price));
  }
  GASMETER_INLINE void synchronise() {}
  GASMETER_INLINE void notify(Rank) { stamp(kStampNotify); }
  GASMETER_INLINE void mark(Mark which) { stamp(stamp_code(which)); }
  GASMETER_INLINE void describe_wait(const char*) {}
  GASMETER_INLINE void idle(SimTime /*deadline*/) {
    stamp(kStampIdle);
    if (mode_ == WaitMode::spin) {
      spin_step();
    } else {
      give_way();
    }
  }

 private:
  static void give_way();
  GASMETER_INLINE void stamp([[maybe_unused]] std::uint8_t code) const {
    if constexpr (kStamped) Stamps::of_process().add(code, [this] { return now().ps; });
  }

  const Clock* clock_;
  WaitMode mode_;
};

using RealHost = BasicRealHost<false>;
using ThreadedHost = BasicRealHost<true>;
using StampedHost = BasicRealHost<false, true>;

}  // namespace gasmeter

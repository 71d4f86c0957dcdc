// The host that runs in real time on this computer: every call does the work itself.
#pragma once

#include <cstdint>
#include <cstring>

#include "gasmeter/base/clock.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/stamps.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter {

// How a rank waits. Ranks that own a core spin. Ranks that share a core give it away, or the peer never runs.
enum class WaitMode : std::uint8_t { spin, yield };

// Threads = false: one thread drives an endpoint, without locks. Threads = true: any thread may call the endpoint
// (GASNET_PAR). Stamped = true: the rank records its work with time stamps, for `gasmeter trace`.
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
    if (bytes != 0) std::memcpy(to, from, bytes);  // memcpy forbids null even for 0 bytes
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
  GASMETER_INLINE void mark(Mark point) { stamp(stamp_code(point)); }
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

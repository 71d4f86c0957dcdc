// Wall clock of a real host: the processor's time-stamp counter where it is invariant, else CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <ctime>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter {

// The clock is calibrated once per process, on first use (about 10 ms). A launcher calibrates it before it forks its
// ranks.
class Clock {
 public:
  [[nodiscard]] static const Clock& calibrated();

  [[nodiscard]] GASMETER_INLINE SimTime now() const {
#if defined(__x86_64__)
    if (GASMETER_LIKELY(ps_per_tick_scaled_ != 0)) {
      // 128-bit product: 64-bit ticks times picoseconds per tick in 1/2^32.
      const Product product = static_cast<Product>(__rdtsc()) * ps_per_tick_scaled_;
      return {static_cast<std::int64_t>(product >> 32)};
    }
#endif
    return monotonic();
  }

  [[nodiscard]] static SimTime monotonic() {
    std::timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return {static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000'000 + static_cast<std::int64_t>(t.tv_nsec) * 1000};
  }

  // Ticks per second of the counter in use; 0 where CLOCK_MONOTONIC is used.
  [[nodiscard]] double counter_hz() const { return counter_hz_; }

 private:
  __extension__ using Product = unsigned __int128;

  Clock();
  std::uint64_t ps_per_tick_scaled_ = 0;  // picoseconds per tick times 2^32
  double counter_hz_ = 0;
};

}  // namespace gasmeter

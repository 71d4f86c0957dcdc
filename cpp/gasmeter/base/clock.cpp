#include "gasmeter/base/clock.hpp"

#include <cmath>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace gasmeter {
namespace {

#if defined(__x86_64__)
// CPUID 0x80000007, EDX bit 8: the counter runs at one rate in all power states.
bool counter_is_invariant() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
}

struct Pair {
  std::uint64_t ticks;
  SimTime time;
};

// Read counter and clock together. Of 16 readings the one within the fewest ticks is returned, since no interruption
// fell into it.
Pair read_both() {
  Pair best{};
  std::uint64_t narrowest = ~std::uint64_t{0};
  for (int attempt = 0; attempt < 16; ++attempt) {
    const std::uint64_t before = __rdtsc();
    const SimTime time = Clock::monotonic();
    const std::uint64_t after = __rdtsc();
    if (after - before < narrowest) {
      narrowest = after - before;
      best = {before + (after - before) / 2, time};
    }
  }
  return best;
}
#endif

}  // namespace

Clock::Clock() {
#if defined(__x86_64__)
  if (!counter_is_invariant()) return;
  const Pair start = read_both();
  while (monotonic() - start.time < SimTime::from_ns(1e7)) pause_step();
  const Pair end = read_both();
  const double ps_per_tick =
      static_cast<double>((end.time - start.time).ps) / static_cast<double>(end.ticks - start.ticks);
  ps_per_tick_scaled_ = static_cast<std::uint64_t>(std::llround(ps_per_tick * 4294967296.0));
  counter_hz_ = 1e12 / ps_per_tick;
#endif
}

const Clock& Clock::calibrated() {
  static const Clock clock;
  return clock;
}

}  // namespace gasmeter

// Differences between compilers and processors. Only this file and sim/fibres/fibre.cpp have conditional compilation.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define GASMETER_INLINE inline __attribute__((always_inline))
#define GASMETER_NOINLINE __attribute__((noinline))
#define GASMETER_LIKELY(x) __builtin_expect(!!(x), 1)
#define GASMETER_UNLIKELY(x) __builtin_expect(!!(x), 0)

namespace gasmeter {

inline constexpr std::size_t kCacheLine = 64;
// Distance between data of different writers, because adjacent-line prefetchers fetch pairs of lines.
inline constexpr std::size_t kNoSharing = 128;

// A spin's step keeps the compiler from hoisting the load, and does no more. It has no pause instruction, with which a
// waiting rank would notice an arrival later (tens of nanoseconds on many processors). Pauses belong to longer waits.
GASMETER_INLINE void spin_step() {
  asm volatile("" ::: "memory");
}

GASMETER_INLINE void pause_step() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#else
  spin_step();
#endif
}

GASMETER_INLINE void prefetch_read(const void* address) {
  __builtin_prefetch(address, 0);
}
GASMETER_INLINE void prefetch_write(const void* address) {
  __builtin_prefetch(address, 1);
}

// Keep a value, and the code that made it, from being optimised away.
template <class T>
GASMETER_INLINE void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace gasmeter

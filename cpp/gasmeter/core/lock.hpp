// Locks that exist only if several threads may call one endpoint.
#pragma once

#include <atomic>

#include "gasmeter/base/platform.hpp"

namespace gasmeter::core {

template <bool Threads>
class MaybeLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) {
      while (flag_.test(std::memory_order_relaxed)) pause_step();
    }
  }
  [[nodiscard]] bool try_lock() { return !flag_.test_and_set(std::memory_order_acquire); }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_;
};

template <>
class MaybeLock<false> {
 public:
  GASMETER_INLINE void lock() {}
  [[nodiscard]] GASMETER_INLINE bool try_lock() { return true; }
  GASMETER_INLINE void unlock() {}
};

}  // namespace gasmeter::core

// StopToken: stops a run from outside.
#pragma once

#include <atomic>

#include "gasmeter/base/error.hpp"

namespace gasmeter::sim {

// Thrown when a run was stopped (StopToken).
class Interrupted : public Error {
 public:
  using Error::Error;
};

// Any thread or signal handler may request a stop; the engine looks at every window and every few thousand steps.
class StopToken {
 public:
  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_{false};
};

}  // namespace gasmeter::sim

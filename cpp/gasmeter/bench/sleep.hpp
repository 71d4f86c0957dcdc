// Sleep: a rank's core does something else for a while.
#pragma once

#include <chrono>
#include <thread>

#include "gasmeter/base/units.hpp"

namespace gasmeter::bench {

// Sleep; messages to the rank wait.
template <class H>
void sleep(H& host, SimTime time) {
  if constexpr (H::kModelled) {
    host.pass(time);
    host.synchronise();
  } else {
    std::this_thread::sleep_for(std::chrono::nanoseconds(time.ps / 1000));
  }
}

}  // namespace gasmeter::bench

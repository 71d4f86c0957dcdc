// How a rank waits.
#pragma once

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/launch/rank_link.hpp"

namespace gasmeter::launch {

// Ranks that own a core spin; ranks that share cores yield.
[[nodiscard]] inline WaitMode wait_mode(const RankLink& link) {
  return link.oversubscribed() ? WaitMode::yield : WaitMode::spin;
}

}  // namespace gasmeter::launch

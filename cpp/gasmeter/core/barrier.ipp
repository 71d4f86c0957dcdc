// Dissemination barrier: in round k a rank signals the rank 2^k behind it and waits for the rank 2^k before it.
#pragma once

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/reference/extended.hpp"

namespace gasmeter::core {

template <class H>
void Endpoint<H>::barrier() {
  check_call("barrier");
  if constexpr (kMutants) faults_.enter_barrier(*this);
  ++barrier_epoch_;
  if (near_.ranks() == ranks_) {
    barrier_near();
  } else {
    barrier_far();
  }
}

// Barrier of neighbours. One cache line per rank and round holds the number of barriers that the rank's partner has
// entered. The number only grows. No line is ever reset, and a partner may be one barrier ahead.
template <class H>
void Endpoint<H>::barrier_near() {
  const std::uint32_t ranks = near_.ranks();
  const std::uint32_t self = near_.self();
  std::uint32_t round = 0;
  for (std::uint32_t distance = 1; distance < ranks; distance *= 2, ++round) {
    const std::uint32_t partner = (self + distance) % ranks;
    host_.charge_shared(SharedPrice::line_store);
    host_.synchronise();
    near_.barrier_word(partner, round).store(barrier_epoch_, std::memory_order_release);
    host_.notify(near_.rank_of(partner));
    if constexpr (kMutants) {
      if (faults_.lets_go()) continue;
    }
    const Rank awaited = near_.rank_of((self + ranks - distance) % ranks);
    wait_for(
        [&] {
          host_.synchronise();
          return near_.barrier_word(self, round).load(std::memory_order_acquire) >= barrier_epoch_;
        },
        "barrier", {Waiting::For::barrier, awaited, round});
    host_.charge_shared(SharedPrice::line_transfer);
  }
}

template <class H>
void Endpoint<H>::barrier_far() {
  std::uint32_t round = 0;
  for (std::uint32_t distance = 1; distance < ranks_; distance *= 2, ++round) {
    const Rank partner{(index(rank_) + distance) % ranks_};
    (void)request_short(partner, reference::kBarrier, Flags::none, static_cast<std::int32_t>(round));
    if constexpr (kMutants) {
      if (faults_.lets_go()) continue;
    }
    const Rank awaited{(index(rank_) + ranks_ - distance) % ranks_};
    wait_for([&] { return barrier_arrivals_[round] >= barrier_epoch_; }, "barrier",
             {Waiting::For::barrier, awaited, round});
  }
}

}  // namespace gasmeter::core

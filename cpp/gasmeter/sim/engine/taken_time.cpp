#include "gasmeter/sim/engine/taken_time.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/trace/tracer.hpp"

namespace gasmeter::sim {

TakenTime& Engine::taken_of(RankContext& rank) {
  std::unique_ptr<TakenTime>& taken = taken_[index(rank.rank)];
  if (taken == nullptr) taken = std::make_unique<TakenTime>();
  rank.loses_time = true;
  return *taken;
}

void Engine::price_polls(RankContext& rank, SimTime price) {
  if (price.ps < 0) {
    throw UsageError("sim: a poll that finds nothing for " + std::to_string(price.ps) + " ps; 0 or more is allowed");
  }
  taken_of(rank).poll_price = paced(rank.node, price);
}

void Engine::price_misses(RankContext& rank, SimTime price) {
  if (price.ps <= 0) {
    throw UsageError("sim: a poll that finds nothing for " + std::to_string(price.ps) + " ps; 1 or more is allowed");
  }
  std::unique_ptr<conduit::HostPrices>& prices = own_prices_[index(rank.rank)];
  if (prices == nullptr) prices = std::make_unique<conduit::HostPrices>(options_.prices);
  (*prices)[conduit::PrivatePrice::poll_miss].fixed = paced(rank.node, price);
  rank.prices = prices.get();
}

// While a rank idles its clock still shows the instant at which the wait began. An interrupt between two polls moves
// all later polls: the loop of polls goes on where it was.
SimTime Engine::after_missed_polls(const RankContext& rank, SimTime until) const {
  SimTime from = rank.clock;
  if (const TakenTime* const taken = taken_[index(rank.rank)].get()) {
    from += taken->taken_in_wait;
    until = std::max(until, taken->busy_until);
  }
  if (until <= from) return from;
  const SimTime miss = poll_miss(rank);
  if (options_.waits == Waits::mid_poll) return std::max(from + miss, until + SimTime{miss.ps / 2});
  if (options_.waits == Waits::asleep) return std::max(from + miss, until);
  const std::int64_t polls = ((until - from).ps - 1) / miss.ps + 1;
  return from + miss * polls;
}

SimTime Engine::poll_miss(const RankContext& rank) const {
  const SimTime host = (*rank.prices)[conduit::PrivatePrice::poll_miss].fixed;
  return rank.loses_time ? host + poll_price(rank) : host;
}

void Engine::end_wait(RankContext& rank) {
  TakenTime& taken = taken_of(rank);
  taken.sought = kNever;
  rank.idled = rank.idled - taken.taken_in_wait;  // the core was at work
  taken.taken_in_wait = {};
}

void Engine::seek(RankContext& rank, SimTime until) {
  if (GASMETER_UNLIKELY(rank.loses_time)) taken_of(rank).sought = std::min(taken_of(rank).sought, until);
  rank.partition->post_turn(rank, after_missed_polls(rank, until));
}

// Move the rank's turn. Its place in the queue stays; when that comes up, the turn is posted again
// (Partition::on_turn).
void Engine::put_off(RankContext& rank, SimTime until) {
  rank.turn = until;
}

void Engine::stall(RankContext& rank) {
  if (rank.partition->unwinding()) return;  // a destructor that waits cannot be served
  require_may_wait(rank);
  synchronise(rank);
  TakenTime& taken = taken_of(rank);
  const SimTime since = rank.clock;
  if (taken.released > rank.clock) {
    rank.state = RankState::stalled;
    if (taken.released != kNever) rank.partition->post_turn(rank, taken.released);
    rank.fibre->suspend();
  }
  taken.released = kNever;
  if (GASMETER_UNLIKELY(tracer_ != nullptr)) tracer_->worked(rank.rank, Step::stall, since, rank.clock);
}

void Engine::resume(Rank which, SimTime at) {
  if (cancelled_) return;
  RankContext& rank = context(which);
  Partition& partition = *rank.partition;
  if (partition.current != nullptr) synchronise(*partition.current);
  TakenTime& taken = taken_of(rank);
  if (taken.released != kNever) {
    throw UsageError("sim: rank " + std::to_string(index(which)) + " stalls once and is resumed twice");
  }
  taken.released = std::max(at, partition.now);
  if (rank.state != RankState::stalled) return;
  SimTime turn = taken.released;
  for (const TakenTime::Interrupt& each : std::exchange(taken.later, {})) turn = handle(rank, turn, each);
  partition.post_turn(rank, turn);
}

// Handle interrupts one after the other; return when the core is done with this one.
SimTime Engine::handle(const RankContext& rank, SimTime from, const TakenTime::Interrupt& interrupt) {
  TakenTime& taken = *taken_[index(rank.rank)];
  taken.busy_until = std::max(from, taken.busy_until) + interrupt.cost;
  taken.taken += interrupt.cost;
  if (interrupt.handled != nullptr) post(rank.node, rank.node, taken.busy_until, *interrupt.handled);
  return taken.busy_until;
}

void Engine::interrupt(Rank which, SimTime cost, Action* handled) {
  if (cancelled_) return;
  if (cost.ps < 0) {
    throw UsageError("sim: an interrupt of " + std::to_string(cost.ps) + " ps; 0 or more is allowed");
  }
  RankContext& rank = context(which);
  Partition& partition = *rank.partition;
  if (partition.current != nullptr) synchronise(*partition.current);
  if (!rank.loses_time || !taken_of(rank).takes_interrupts) {
    throw UsageError("sim: rank " + std::to_string(index(which)) +
                     " is interrupted; its network has not said that it takes interrupts");
  }
  TakenTime& taken = taken_of(rank);
  cost = paced(rank.node, cost);
  const TakenTime::Interrupt interrupt{cost, handled};
  switch (rank.state) {
    case RankState::stalled:  // a core that waits for a load takes no interrupt before it has it
      if (taken.released == kNever) {
        taken.later.push_back(interrupt);
      } else {
        put_off(rank, handle(rank, rank.turn, interrupt));
      }
      return;
    case RankState::running:  // the rank itself has asked for the interrupt
      rank.clock = handle(rank, rank.clock, interrupt);
      return;
    case RankState::ready:
      handle(rank, partition.now, interrupt);
      put_off(rank, rank.turn + cost);
      return;
    case RankState::working:
      handle(rank, partition.now, interrupt);
      taken.end += cost;
      put_off(rank, rank.turn + cost);
      return;
    case RankState::idle:
      handle(rank, partition.now, interrupt);
      taken.taken_in_wait += cost;
      if (rank.turn != kNever) put_off(rank, after_missed_polls(rank, taken.sought));
      return;
    case RankState::absent:
    case RankState::parked:
    case RankState::finished:
      handle(rank, partition.now, interrupt);
      return;
  }
}

SimTime Engine::work(RankContext& rank, SimTime amount, bool cut) {
  if (amount.ps < 0) {
    throw UsageError("sim: work of " + std::to_string(amount.ps) + " ps; 0 or more is allowed");
  }
  if (rank.partition->unwinding()) return {};
  require_may_wait(rank);
  synchronise(rank);
  if (cut && rank.woken) {
    rank.woken = false;
    return amount;
  }
  if (amount.ps == 0) return {};
  TakenTime& taken = taken_of(rank);
  const SimTime since = rank.clock;
  taken.cut = cut;
  taken.end = rank.clock + amount;
  rank.state = RankState::working;
  rank.partition->post_turn(rank, taken.end);
  rank.fibre->suspend();
  if (cut) rank.woken = false;
  if (GASMETER_UNLIKELY(tracer_ != nullptr)) tracer_->worked(rank.rank, Step::work, since, rank.clock);
  return taken.end - rank.clock;
}

// Let the rank look at a message as soon as the core is done with interrupts.
void Engine::cut_work(RankContext& rank) {
  const TakenTime& taken = taken_of(rank);
  if (taken.cut) rank.partition->post_turn(rank, std::max(rank.partition->now, taken.busy_until));
}

}  // namespace gasmeter::sim

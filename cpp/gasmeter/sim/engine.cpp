#include "gasmeter/sim/engine.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::sim {

namespace {

constexpr int kStepsBetweenChecks = 4096;

std::string in_ns(SimTime time) {
  char text[48];
  std::snprintf(text, sizeof text, "%lld.%03lld ns", static_cast<long long>(time.ps / 1000),
                static_cast<long long>(time.ps % 1000));
  return text;
}

bool negative(const conduit::Price& price) {
  return price.fixed.ps < 0 || price.per_byte_fs < 0;
}

}  // namespace

const EngineOptions& Engine::checked(const EngineOptions& options) {
  if (options.ranks == 0) throw UsageError("sim: 0 ranks; at least 1 is needed");
  if (options.nodes == 0) throw UsageError("sim: 0 nodes; at least 1 is needed");
  const conduit::HostPrices& prices = options.prices;
  if (std::any_of(prices.on_own_core.begin(), prices.on_own_core.end(), negative) ||
      std::any_of(prices.on_shared.begin(), prices.on_shared.end(), negative) || negative(prices.copy)) {
    throw UsageError("sim: a price of the host is negative; 0 or more is allowed");
  }
  if (prices[conduit::PrivatePrice::poll_miss].fixed.ps == 0) {
    throw UsageError("sim: price poll_miss of 0 ps; at least 1 ps is needed, or a rank that polls stops time");
  }
  return options;
}

Engine::Engine(const EngineOptions& options)
    : options_(checked(options)),
      ranks_per_node_((options.ranks + options.nodes - 1) / options.nodes),
      stacks_(options.stack_bytes != 0 ? options.stack_bytes : Fibre::default_stack_bytes()),
      contexts_(options.ranks),
      ready_(options.ranks) {
  for (unsigned i = 0; i < options.ranks; ++i) {
    RankContext& rank = contexts_[i];
    rank.prices = &options_.prices;
    rank.engine = this;
    rank.strict = options_.strict;
    rank.rank = Rank{i};
    rank.node = NodeId{i / ranks_per_node_};
  }
}

Engine::~Engine() {
  cancel();
}

RankContext& Engine::context(Rank rank) {
  if (index(rank) >= contexts_.size()) {
    throw UsageError("sim: rank " + std::to_string(index(rank)) + " of " + std::to_string(contexts_.size()) +
                     " ranks does not exist");
  }
  return contexts_[index(rank)];
}

ModelHost Engine::host(Rank rank) {
  return ModelHost(context(rank));
}

NodeId Engine::node_of(Rank rank) const {
  return NodeId{index(rank) / ranks_per_node_};
}

RankRange Engine::ranks_of(NodeId node) const {
  const unsigned first = std::min(index(node) * ranks_per_node_, ranks());
  return {first, std::min(ranks_per_node_, ranks() - first)};
}

void Engine::start(Rank rank, std::function<void()> body) {
  RankContext& self = context(rank);
  if (self.fibre && !self.fibre->finished()) {
    throw UsageError("sim: rank " + std::to_string(index(rank)) + " already has a body");
  }
  self.fibre = std::make_unique<Fibre>(stacks_, [this, &self, work = std::move(body)] {
    work();
    synchronise(self);
  });
  self.state = RankState::parked;
  self.woken = false;
  self.waits_for = nullptr;
}

void Engine::run() {
  if (running_) throw UsageError("sim: run() inside run()");
  if (cancelled_) throw UsageError("sim: the engine's run was cancelled; make a new engine");
  running_ = true;
  outer_uncaught_ = std::uncaught_exceptions();
  outer_caught_ = std::current_exception();
  try {
    resume_parked();
    loop();
  } catch (...) {
    cancel();
    running_ = false;
    outer_caught_ = nullptr;
    throw;
  }
  running_ = false;
  outer_caught_ = nullptr;
}

void Engine::resume_parked() {
  for (RankContext& rank : contexts_) {
    if (rank.state != RankState::parked) continue;
    ++live_;
    queue(rank, std::max(rank.clock, now_));
  }
}

void Engine::loop() {
  steps_to_check_ = 0;
  while (live_ != 0) {
    if (--steps_to_check_ <= 0) check_stop();
    const SimTime event_at = events_.earliest();
    if (!ready_.empty() && ready_.front().at < event_at) {
      const RankQueue::Entry next = ready_.pop();
      resume(contexts_[next.rank], next.at);
    } else if (!events_.empty()) {
      now_ = event_at;
      const Event event = events_.pop();
      ++counters_.events;
      event.device->fire(now_, event.subject);
    } else {
      throw Deadlock(deadlock_report());
    }
  }
}

void Engine::check_stop() {
  steps_to_check_ = kStepsBetweenChecks;
  if (stop_.requested()) throw Interrupted("sim: stopped on request at " + in_ns(now_));
}

void Engine::resume(RankContext& rank, SimTime at) {
  now_ = at;
  rank.clock = at;
  rank.state = RankState::running;
  ++counters_.switches;
  current_ = &rank;
  rank.fibre->resume();
  current_ = nullptr;
  if (!rank.fibre->finished()) return;
  rank.state = RankState::finished;
  rank.fibre.reset();
  --live_;
}

void Engine::cancel() noexcept {
  cancelled_ = true;
  for (RankContext& rank : contexts_) {
    if (!rank.fibre) continue;
    current_ = &rank;
    rank.fibre->cancel();
    current_ = nullptr;
    rank.fibre.reset();
    rank.state = RankState::finished;
  }
  ready_.clear();
  live_ = 0;
}

std::string Engine::deadlock_report() const {
  const auto count = [this](RankState state) {
    return std::count_if(contexts_.begin(), contexts_.end(),
                         [state](const RankContext& r) { return r.state == state; });
  };
  std::string report = "sim: deadlock at " + in_ns(now_) + ": nothing is under way, " +
                       std::to_string(count(RankState::idle)) + " of " + std::to_string(contexts_.size()) +
                       " ranks wait, " + std::to_string(count(RankState::parked)) + " have ended the block, " +
                       std::to_string(count(RankState::finished)) + " the program";
  for (const RankContext& rank : contexts_) {
    if (rank.state != RankState::idle) continue;
    report += "\nrank " + std::to_string(index(rank.rank)) + " (node " + std::to_string(index(rank.node)) + ") at " +
              in_ns(rank.clock) + " waits for " + (rank.waits_for != nullptr ? rank.waits_for : "an arrival");
  }
  return report;
}

void Engine::post(SimTime at, Event event) {
  if (cancelled_) return;  // a destructor on a cancelled stack; nothing will happen any more
  if (current_ != nullptr) synchronise(*current_);
  if (at < now_) throw UsageError("sim: event posted for " + in_ns(at) + ", which is before now, " + in_ns(now_));
  events_.push(at, event);
}

void Engine::wake(Rank rank, SimTime at) {
  if (cancelled_) return;
  if (current_ != nullptr) synchronise(*current_);
  RankContext& sleeper = context(rank);
  if (at <= now_) {
    wake_now(sleeper);
  } else {
    post(at, {&waker_, &sleeper});
  }
}

void Engine::Waker::fire(SimTime, void* subject) {
  engine_.wake_now(*static_cast<RankContext*>(subject));
}

void Engine::wake_now(RankContext& rank) {
  rank.woken = true;
  if (rank.state == RankState::idle) ready_.bring_forward({after_missed_polls(rank, now_), index(rank.rank)});
}

// While a rank idles its clock still shows the instant at which the wait began.
SimTime Engine::after_missed_polls(const RankContext& rank, SimTime until) const {
  if (until <= rank.clock) return rank.clock;
  const std::int64_t miss = options_.prices[conduit::PrivatePrice::poll_miss].fixed.ps;
  const std::int64_t polls = ((until - rank.clock).ps - 1) / miss + 1;
  return rank.clock + SimTime{miss} * polls;
}

void Engine::notify(RankContext& from, Rank rank) {
  if (cancelled_) return;
  RankContext& sleeper = context(rank);
  if (sleeper.node != from.node) {
    throw UsageError("sim: rank " + std::to_string(index(from.rank)) + " notifies rank " + std::to_string(index(rank)) +
                     ", which is on another node");
  }
  synchronise(from);
  wake_now(sleeper);
}

void Engine::idle(RankContext& rank, SimTime deadline) {
  if (unwinding()) return;  // a destructor that waits cannot be served
  require_may_wait(rank);
  if (rank.woken) {
    synchronise(rank);
  } else {
    rank.state = RankState::idle;
    // A deadline that has passed costs the one poll that sees it: a loop of such waits must make time pass.
    const SimTime miss = options_.prices[conduit::PrivatePrice::poll_miss].fixed;
    if (deadline < kNever - miss) {
      const SimTime until = std::max(deadline, rank.clock + SimTime{1});
      ready_.bring_forward({after_missed_polls(rank, until), index(rank.rank)});
    }
    rank.fibre->suspend();
  }
  rank.woken = false;
}

void Engine::park(Rank rank) {
  RankContext& self = context(rank);
  require_may_wait(self);
  synchronise(self);
  self.state = RankState::parked;
  --live_;
  self.fibre->suspend();
}

void Engine::require_may_wait(const RankContext& rank) const {
  const auto refuse = [&rank](const char* where) {
    throw UsageError("sim: rank " + std::to_string(index(rank.rank)) + " waits " + where);
  };
  if (current_ != &rank) refuse("outside of its body");
  // The runtime keeps caught exceptions per thread: another rank would meet this one's.
  if (!rank.fibre->cancelled() && std::current_exception() != outer_caught_) refuse("inside a catch block");
}

// Also called where nothing is pending, to look at the stop token, and by main-stack code that sets ranks up.
void Engine::give_way(RankContext& rank) {
  if (current_ != &rank || unwinding()) return;
  if (steps_to_check_ <= 0) {
    steps_to_check_ = kStepsBetweenChecks;
    if (stop_.requested()) {
      steps_to_check_ = 0;  // the loop looks at once
    } else if (!must_give_way(rank)) {
      now_ = rank.clock;
      return;
    }
  }
  require_may_wait(rank);
  queue(rank, rank.clock);
  rank.fibre->suspend();
}

void Engine::queue(RankContext& rank, SimTime at) {
  rank.state = RankState::ready;
  ready_.bring_forward({at, index(rank.rank)});
}

}  // namespace gasmeter::sim

#include "gasmeter/sim/engine/engine.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <utility>

#include "gasmeter/sim/engine/crew.hpp"
#include "gasmeter/sim/engine/fast_forward.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "gasmeter/sim/trace/tracer.hpp"

namespace gasmeter::sim {

namespace {

constexpr unsigned kLongestWindowBits = 31;  // an entry's offset has 32 bits
// Window length where no network promised a lookahead: nodes do not meet, so that any length would do.
constexpr SimTime kUnpromised{std::int64_t{1} << 20};

std::string in_ns(SimTime time) {
  char text[48];
  std::snprintf(text, sizeof text, "%lld.%03lld ns", static_cast<long long>(time.ps / 1000),
                static_cast<long long>(time.ps % 1000));
  return text;
}

bool negative(const conduit::Price& price) {
  return price.fixed.ps < 0 || price.per_byte_fs < 0;
}

// Return the rank that runs in the partition or, while none does, the event.
Tracer::Cause cause_now(const Partition& partition) {
  using Kind = Tracer::Cause::Kind;
  if (partition.current != nullptr) return {Kind::rank, index(partition.current->rank), partition.current->clock, 0};
  return {Kind::event, 0, partition.now, partition.now_tie};
}

}  // namespace

const EngineOptions& Engine::checked(const EngineOptions& options) {
  if (options.ranks == 0) throw UsageError("sim: 0 ranks; at least 1 is needed");
  if (options.nodes == 0) throw UsageError("sim: 0 nodes; at least 1 is needed");
  if (options.nodes > kMostNodes) {
    throw UsageError("sim: " + std::to_string(options.nodes) + " nodes; at most " + std::to_string(kMostNodes));
  }
  if (options.ranks > kMostRanks) {
    throw UsageError("sim: " + std::to_string(options.ranks) + " ranks; at most " + std::to_string(kMostRanks));
  }
  if (options.threads == 0) throw UsageError("sim: 0 threads; at least 1 is needed");
  if (!options.node_of.empty() && options.node_of.size() != options.ranks) {
    throw UsageError("sim: places for " + std::to_string(options.node_of.size()) + " of " +
                     std::to_string(options.ranks) + " ranks");
  }
  const conduit::HostPrices& prices = options.prices;
  if (std::any_of(prices.on_own_core.begin(), prices.on_own_core.end(), negative) ||
      std::any_of(prices.on_shared.begin(), prices.on_shared.end(), negative) || negative(prices.copy) ||
      prices.memory_per_byte_fs < 0) {
    throw UsageError("sim: a price of the host is negative; 0 or more is allowed");
  }
  if (prices[conduit::PrivatePrice::poll_miss].fixed.ps == 0) {
    throw UsageError("sim: price poll_miss of 0 ps; at least 1 ps is needed, or a rank that polls stops time");
  }
  if (!options.slowness.empty() && options.slowness.size() != options.nodes) {
    throw UsageError("sim: the pace of " + std::to_string(options.slowness.size()) + " of " +
                     std::to_string(options.nodes) + " nodes");
  }
  return options;
}

Engine::Engine(const EngineOptions& options)
    : options_(checked(options)),
      nodes_(options.nodes),
      contexts_(options.ranks),
      own_prices_(options.ranks),
      taken_(options.ranks),
      waits_(options.ranks),
      fast_forward_(std::make_unique<FastForward>(nodes_, partitions_)) {
  const unsigned partitions = std::min(options.threads, options.nodes);
  for (unsigned i = 0; i < partitions; ++i) partitions_.emplace_back(i, partitions, *this, nodes_, stop_);
  for (unsigned i = 0; i < options.nodes; ++i) {
    nodes_[i].partition = &partitions_[static_cast<std::size_t>(i) * partitions / options.nodes];
    nodes_[i].partition->own(NodeId{i});
  }
  fast_forward_->allow(options.fast_forward);
  const Bytes stack = options.stack_bytes != 0 ? options.stack_bytes : Fibre::default_stack_bytes();
  for (unsigned i = 0; i < partitions; ++i) stacks_.emplace_back(stack, StackGuard::marker, options.stack_room);
  place_ranks();
}

void Engine::place_ranks() {
  if (options_.node_of.empty()) {
    const unsigned per_node = (options_.ranks + options_.nodes - 1) / options_.nodes;
    for (unsigned i = 0; i < options_.ranks; ++i) options_.node_of.push_back(i / per_node);
  }
  first_of_node_.assign(options_.nodes + 1, 0);
  for (unsigned i = 0; i < options_.ranks; ++i) {
    RankContext& rank = contexts_[i];
    rank.prices = &options_.prices;
    rank.careful = options_.strict;
    rank.rank = Rank{i};
    rank.node = node_of(Rank{i});
    rank.wake.becomes(&Engine::on_wake);
    if (index(rank.node) >= options_.nodes) {
      throw UsageError("sim: rank " + std::to_string(i) + " is placed on node " + std::to_string(index(rank.node)) +
                       " of " + std::to_string(options_.nodes));
    }
    if (!options_.slowness.empty()) set_pace(rank);
    rank.partition = nodes_[index(rank.node)].partition;
    ++first_of_node_[index(rank.node) + 1];
  }
  for (std::size_t node = 1; node < first_of_node_.size(); ++node) first_of_node_[node] += first_of_node_[node - 1];
  by_node_.resize(options_.ranks);
  std::vector<std::uint32_t> next(first_of_node_.begin(), first_of_node_.end() - 1);
  for (const RankContext& rank : contexts_) by_node_[next[index(rank.node)]++] = rank.rank;
}

// Give a rank on a slow node the slow path of strict ranks, which comes to the same times: other ranks need not ask.
void Engine::set_pace(RankContext& rank) {
  const Slowness slowness = options_.slowness[index(rank.node)];
  if (slowness == Slowness{}) return;
  own_prices_[index(rank.rank)] = std::make_unique<conduit::HostPrices>(slowness.of(options_.prices));
  rank.prices = own_prices_[index(rank.rank)].get();
  rank.careful = true;
}

bool Engine::is_slow(const RankContext& rank) const {
  return !options_.slowness.empty() && options_.slowness[index(rank.node)] != Slowness{};
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

std::span<const Rank> Engine::ranks_of(NodeId node) const {
  const std::uint32_t first = first_of_node_[index(node)];
  return std::span(by_node_).subspan(first, first_of_node_[index(node) + 1] - first);
}

conduit::Charges Engine::charges() const {
  conduit::Charges all;
  all.add(conduit::PrivatePrice::poll_miss);
  for (const RankContext& rank : contexts_) all.add(rank.charges);
  return all;
}

EngineCounters Engine::counters() const {
  EngineCounters sum;
  for (const Partition& partition : partitions_) {
    sum.events += partition.counters().events;
    sum.switches += partition.counters().switches;
    sum.windows += partition.counters().windows;
  }
  return sum;
}

void Engine::promise_lookahead(SimTime least) {
  if (least.ps < 1) {
    throw UsageError("sim: a network whose packets take no time between nodes; at least 1 ps is needed");
  }
  if (started_) throw UsageError("sim: a network is added to a run that has begun");
  lookahead_ = std::min(lookahead_, least);
}

void Engine::open_windows() {
  const SimTime longest = lookahead_ == kNever ? kUnpromised : lookahead_;
  const auto shift =
      std::min(static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(longest.ps))) - 1, kLongestWindowBits);
  // Nodes without ranks are not held back where a block may end: the traffic that passes there until then is counted.
  const std::int64_t block = std::int64_t{1} << shift;
  const bool everywhere = std::adjacent_find(first_of_node_.begin(), first_of_node_.end()) == first_of_node_.end();
  const SimTime length{everywhere ? std::min(longest.ps, std::int64_t{1} << kLongestWindowBits) : block};
  for (Partition& partition : partitions_) partition.set_windows(length, lookahead_, shift);
  started_ = true;
}

void Engine::set_wiring(Wiring::Carry carry, Wiring& wiring) {
  if (wiring_ != nullptr) throw UsageError("sim: a second fabric of one engine");
  for (Partition& partition : partitions_) partition.set_wiring(carry, wiring);
  wiring_ = &wiring;
  wiring.be_traced(tracer_ != nullptr);
}

void Engine::start(Rank rank, std::function<void()> body) {
  RankContext& self = context(rank);
  if (self.fibre && !self.fibre->finished()) {
    throw UsageError("sim: rank " + std::to_string(index(rank)) + " already has a body");
  }
  self.fibre = std::make_unique<Fibre>(
      stacks_[partition_of(self.node)],
      [this, &self, work = std::move(body)] {
        work();
        synchronise(self);
      },
      options_.fibres);
  self.state = RankState::parked;
  self.woken = false;
  waits_[index(rank)] = {};
}

void Engine::run() {
  if (running_) throw UsageError("sim: run() inside run()");
  if (cancelled_) throw UsageError("sim: the engine's run was cancelled; make a new engine");
  if (!started_) open_windows();
  running_ = true;
  const FibreMaker fibres = require_available(options_.fibres);
  for (Partition& partition : partitions_) partition.enter_thread(fibres);
  try {
    resume_parked();
    if (nodes_.size() == 1) {
      run_alone();
    } else {
      run_windows(fibres);
    }
  } catch (...) {
    cancel();
    leave_run();
    throw;
  }
  // Events that are posted between runs come after all that has happened, on every node.
  for (Partition& partition : partitions_) {
    partition.now = reached_;
    partition.now_tie = 0;
  }
  leave_run();
}

void Engine::leave_run() {
  for (Partition& partition : partitions_) partition.leave_thread();
  running_ = false;
}

void Engine::resume_parked() {
  for (RankContext& rank : contexts_) {
    if (rank.state != RankState::parked) continue;
    rank.partition->begin_body(rank);
    rank.state = RankState::ready;
    const SimTime busy_until = rank.loses_time ? taken_of(rank).busy_until : SimTime{};
    rank.partition->post_turn(rank, std::max({rank.clock, reached_, busy_until}));
  }
}

void Engine::run_alone() {
  Partition& all = partitions_.front();
  const bool more = all.run_alone();
  rethrow_failure();
  reached_ = std::max(reached_, all.latest);
  if (all.live == 0) return;
  check_stop();
  if (!more) throw Deadlock(deadlock_report());
}

void Engine::run_windows(FibreMaker fibres) {
  Crew(partitions_, fibres).run(stop_);
  rethrow_failure();
  if (live() == 0) {
    for (const Partition& partition : partitions_) reached_ = std::max(reached_, partition.block_end());
    return;
  }
  check_stop();
  throw Deadlock(deadlock_report());
}

void Engine::rethrow_failure() const {
  const Partition::Failure* first = nullptr;
  for (const Partition& partition : partitions_) {
    const Partition::Failure& failure = partition.failure();
    if (failure.what == nullptr) continue;
    if (first == nullptr || failure.at < first->at || (failure.at == first->at && failure.node < first->node)) {
      first = &failure;
    }
  }
  if (first != nullptr) std::rethrow_exception(first->what);
}

void Engine::check_stop() const {
  if (stop_.requested()) throw Interrupted("sim: stopped on request at " + in_ns(latest()));
}

SimTime Engine::latest() const {
  SimTime last;
  for (const Partition& partition : partitions_) last = std::max(last, partition.latest);
  return last;
}

unsigned Engine::live() const {
  unsigned sum = 0;
  for (const Partition& partition : partitions_) sum += partition.live;
  return sum;
}

void Engine::cancel() noexcept {
  cancelled_ = true;
  for (RankContext& rank : contexts_) {
    if (!rank.fibre) continue;
    RankContext* const before = std::exchange(rank.partition->current, &rank);
    rank.fibre->cancel();
    rank.partition->current = before;
    rank.fibre.reset();
    rank.state = RankState::finished;
  }
  for (Partition& partition : partitions_) partition.live = 0;
}

std::string Engine::deadlock_report() const {
  const auto count = [this](RankState state) {
    return std::count_if(contexts_.begin(), contexts_.end(),
                         [state](const RankContext& r) { return r.state == state; });
  };
  std::string report = "sim: deadlock at " + in_ns(latest()) + ": nothing is under way, " +
                       std::to_string(count(RankState::idle) + count(RankState::stalled)) + " of " +
                       std::to_string(contexts_.size()) + " ranks wait, " + std::to_string(count(RankState::parked)) +
                       " have ended the block, " + std::to_string(count(RankState::finished)) + " the program";
  for (const RankContext& rank : contexts_) {
    if (rank.state != RankState::idle && rank.state != RankState::stalled) continue;
    const char* const what = rank.state == RankState::stalled ? "the end of a stall" : waits_[index(rank.rank)].what;
    report += "\nrank " + std::to_string(index(rank.rank)) + " (node " + std::to_string(index(rank.node)) + ") at " +
              in_ns(rank.clock) + " waits for " + (what != nullptr ? what : "an arrival");
  }
  return report;
}

// Destructors on cancelled stacks may post: their events land in queues that nobody reads any more.
void Engine::prepare_post(Partition& partition, SimTime at) {
  if (cancelled_) return;
  if (partition.current != nullptr) synchronise(*partition.current);
  if (at < partition.now) {
    throw UsageError("sim: event posted for " + in_ns(at) + ", which is before now, " + in_ns(partition.now));
  }
}

void Engine::trace(Tracer* tracer) {
  if (partitions() > 1) throw UsageError("sim: a trace of an engine that runs on several threads");
  tracer_ = tracer;
  if (wiring_ != nullptr) wiring_->be_traced(tracer != nullptr);
  fast_forward_->allow(options_.fast_forward && tracer == nullptr);
  if (tracer != nullptr) tracer->name(&Engine::on_wake, Step::queue);  // a wake that a device has put off
  for (RankContext& rank : contexts_) {
    rank.careful = options_.strict || tracer != nullptr || is_slow(rank);
  }
}

void Engine::trace_post(const Partition& partition, NodeId from, NodeId to, SimTime at, Tie tie, const Action& action) {
  if (!cancelled_) tracer_->posted(cause_now(partition), from, to, at, tie, action);
}

void Engine::wake(Rank rank, SimTime at) {
  if (cancelled_) return;
  RankContext& sleeper = context(rank);
  Partition& partition = *sleeper.partition;
  if (partition.current != nullptr) synchronise(*partition.current);
  if (at <= partition.now) {
    wake_now(sleeper);
  } else {
    post(sleeper.node, sleeper.node, at, sleeper.wake);
  }
}

void Engine::on_wake(Action& self, SimTime) {
  RankContext& rank = *static_cast<RankAction&>(self).rank;
  rank.partition->engine->wake_now(rank);
}

void Engine::wake_now(RankContext& rank, bool by_network) {
  if (GASMETER_UNLIKELY(tracer_ != nullptr)) tracer_->woken(cause_now(*rank.partition), rank.rank);
  rank.woken = true;
  if (rank.state == RankState::working && by_network) cut_work(rank);
  if (rank.state != RankState::idle) return;
  rank.fibre->prefetch();
  seek(rank, rank.partition->now);
}

// Compare the rank's work since its last sleep of this kind: equal work was a look that found nothing.
bool Engine::idle(RankContext& rank, SimTime deadline, const Looks& looks) {
  Wait& wait = waits_[index(rank.rank)];
  const SimTime worked = rank.clock - rank.idled;
  wait.costs_nothing = worked == wait.worked;
  wait.worked = worked;
  wait.memory = looks.memory;
  wait.bytes = looks.bytes;
  wait.at_polls_alone = looks.at_polls_alone;
  const bool is_found = idle(rank, deadline);
  wait.at_polls_alone = false;
  return is_found;
}

WakeEffect Engine::effect_of_write(Rank which, const std::byte* memory, Bytes bytes) const {
  const RankContext& rank = contexts_[index(which)];
  if (rank.state == RankState::working) return taken_[index(which)]->cut ? WakeEffect::unknown : WakeEffect::none;
  if (rank.state != RankState::idle) return WakeEffect::none;
  const Wait& wait = waits_[index(which)];
  const bool is_seen = first_look_in(which, memory, bytes) != bytes;
  const bool sleeps = !rank.woken && !rank.loses_time;  // until its deadline, if it has one
  return sleeps && wait.at_polls_alone && wait.costs_nothing && !is_seen ? WakeEffect::one_poll : WakeEffect::unknown;
}

Bytes Engine::first_look_in(Rank rank, const std::byte* memory, Bytes bytes) const {
  const Wait& wait = waits_[index(rank)];
  if (contexts_[index(rank)].state != RankState::idle || wait.bytes == 0) return bytes;
  const auto first = reinterpret_cast<std::uintptr_t>(memory);
  const auto look = reinterpret_cast<std::uintptr_t>(wait.memory);
  if (look >= first + bytes || look + wait.bytes <= first) return bytes;
  return look <= first ? 0 : look - first;
}

SimTime Engine::use_memory(NodeId node, SimTime now, Bytes bytes) {
  Node& self = nodes_[index(node)];
  const SimTime work = SimTime::of_bytes(options_.prices.memory_per_byte_fs, bytes);
  self.memory_free = std::max(self.memory_free, now) + work;
  return self.memory_free;
}

void Engine::notify(RankContext& from, Rank rank) {
  if (cancelled_) return;
  RankContext& sleeper = context(rank);
  if (sleeper.node != from.node) {
    throw UsageError("sim: rank " + std::to_string(index(from.rank)) + " notifies rank " + std::to_string(index(rank)) +
                     ", which is on another node");
  }
  synchronise(from);
  wake_now(sleeper, false);
}

bool Engine::idle(RankContext& rank, SimTime deadline) {
  if (rank.partition->unwinding()) return false;  // a destructor that waits cannot be served
  require_may_wait(rank);
  const SimTime since = rank.clock;
  bool is_found = false;  // whether a poll at the clock would find something
  if (rank.woken) {
    rank.woken = false;
    synchronise(rank);
    is_found = rank.woken;
  } else {
    rank.state = RankState::idle;
    // A deadline that has passed costs the one poll that sees it, since a loop of such waits must make time pass.
    if (deadline < kNever - poll_miss(rank)) seek(rank, std::max(deadline, rank.clock + SimTime{1}));
    rank.fibre->suspend();
    if (GASMETER_UNLIKELY(rank.loses_time)) end_wait(rank);
    is_found = rank.clock == since;
  }
  rank.idled += rank.clock - since;
  if (GASMETER_UNLIKELY(tracer_ != nullptr)) tracer_->slept(rank.rank, since, rank.clock);
  rank.woken = rank.left_out && is_found;
  rank.left_out = false;
  return rank.woken;
}

void Engine::park(Rank rank) {
  RankContext& self = context(rank);
  require_may_wait(self);
  synchronise(self);
  self.state = RankState::parked;
  self.partition->end_body(self);
  self.fibre->suspend();
}

void Engine::on_main_stack(Rank rank, MainStep step, void* argument) {
  RankContext& self = context(rank);
  require_may_wait(self);
  synchronise(self);
  self.partition->on_main_stack(self, step, argument);
}

void Engine::refuse_wait(const RankContext& rank) {
  const auto refuse = [&rank](const char* where) {
    throw UsageError("sim: rank " + std::to_string(index(rank.rank)) + " waits " + where);
  };
  if (rank.partition->current != &rank) refuse("outside of its body");
  // The runtime keeps caught exceptions per thread: another rank on this thread would meet them.
  if (rank.partition->in_catch_block() && !rank.fibre->cancelled()) {
    refuse("inside a catch block");
  }
}

// Strict and traced ranks wait, and so does a rank whose clock an interrupt or stall may still put off.
void Engine::act_later(RankContext& rank, Action& action) {
  Partition& partition = *rank.partition;
  if (partition.current != &rank || rank.careful || rank.loses_time || partition.unwinding()) {
    synchronise(rank);
    action(rank.clock);
  } else {
    partition.post(rank.node, rank.clock, own_tie(rank.rank, nodes_[index(rank.node)].posted++), action);
  }
}

// Main-stack code that sets ranks up calls this, too.
void Engine::give_way(RankContext& rank) {
  Partition& partition = *rank.partition;
  if (partition.current != &rank || partition.unwinding()) return;
  if (!partition.must_give_way(rank) && !partition.stop_requested()) {
    partition.go_on(rank);
    return;
  }
  require_may_wait(rank);
  // Time that is taken from a rank while it waits for its turn puts the turn off.
  auto caught = Partition::Caught::not_yet;
  if (GASMETER_LIKELY(!rank.loses_time && !partition.stop_requested())) caught = partition.catch_up(rank);
  if (GASMETER_LIKELY(caught == Partition::Caught::up)) return;
  rank.state = RankState::ready;
  if (caught == Partition::Caught::not_yet) partition.post_turn(rank, rank.clock);
  const SimTime since = rank.clock;
  rank.fibre->suspend();
  if (GASMETER_UNLIKELY(tracer_ != nullptr && rank.clock != since)) {
    tracer_->worked(rank.rank, Step::driver, since, rank.clock);
  }
}

}  // namespace gasmeter::sim

// The virtual-time engine: ranks as fibres and device events in exact order of integer picoseconds.
//
// A rank runs ahead on its own clock. Before it does what others can see (or could have changed) it calls
// synchronise(), which lets everything happen on its node that comes before (clock, rank). Nothing passes between nodes
// faster than the lookahead that the network promises. Nodes therefore run window by window, one after the other or on
// several threads (partition.hpp). Neither windows nor threads nor how far a rank runs ahead (EngineOptions::strict)
// change a byte or a picosecond.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/charges.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/engine/partition.hpp"
#include "gasmeter/sim/engine/rank_context.hpp"
#include "gasmeter/sim/engine/stop_token.hpp"
#include "gasmeter/sim/engine/taken_time.hpp"
#include "gasmeter/sim/fibres/fibre.hpp"
#include "gasmeter/sim/fibres/stack_pool.hpp"
#include "gasmeter/sim/topology/slowness.hpp"

namespace gasmeter::sim {

class FastForward;
class ModelHost;
class Tracer;

// When a wait ends: the instant of the poll that finds what a rank waits for; the same for all ranks. Formulas:
// docs/notes/modelled-time.md.
enum class Waits : std::uint8_t {
  by_polls,  // a whole number of polls after the wait began: polls are short beside what is timed
  mid_poll,  // half a poll after the wake, the mean over all phases; but never before one whole poll
  asleep,    // at once: the rank sleeps in the kernel, after the one call that found nothing, until the kernel wakes it
};

struct EngineOptions {
  unsigned ranks = 2;
  unsigned nodes = 2;                  // with ranks or without (switches)
  std::vector<std::uint32_t> node_of;  // node of each rank; empty: filled in rank order, ceil(ranks / nodes) each
  conduit::HostPrices prices;
  std::vector<Slowness> slowness;  // factor of each node's cores; empty: all keep pace
  bool strict = false;             // synchronise before every price: the oracle for missing synchronise() calls
  unsigned threads = 1;            // upper limit; windows with too little to do run on one thread
  FibreMaker fibres = FibreMaker::automatic;
  Bytes stack_bytes = 0;  // 0: Fibre::default_stack_bytes()
  Bytes stack_room = 0;   // above each rank's stack, for a network whose ranks call little: Engine::take_room()
  std::uint64_t seed = 1;
  Waits waits = Waits::by_polls;
  bool fast_forward = true;  // long transfers that nothing disturbs pass at once; off: event by event, to the same end
};

// Memory and polls that a waiting rank looks at when it is woken.
struct Looks {
  bool at_polls_alone = false;        // the rank looks at what its polls find, and at `memory`
  const std::byte* memory = nullptr;  // memory of this node
  std::uint32_t bytes = 0;
};

// Effect of a wake on a rank, where the wake only says that a card has written memory.
enum class WakeEffect : std::uint8_t {
  none,      // the rank does not sleep
  one_poll,  // the rank polls once, which finds nothing and costs nothing, like its last poll
  unknown,
};

// A modelled job. Several may live in a process; each is used by one thread at a time. Not copyable.
class Engine {
 public:
  // Throws UsageError for no ranks, no nodes, no threads, negative prices, or a missed poll that costs nothing (a rank
  // that polls would stop time).
  explicit Engine(const EngineOptions& options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();  // cancels

  [[nodiscard]] unsigned ranks() const { return static_cast<unsigned>(contexts_.size()); }
  [[nodiscard]] unsigned nodes() const { return static_cast<unsigned>(nodes_.size()); }
  [[nodiscard]] unsigned partitions() const { return static_cast<unsigned>(partitions_.size()); }
  [[nodiscard]] std::uint64_t seed() const { return options_.seed; }
  [[nodiscard]] EngineCounters counters() const;
  // Return the prices that anybody was charged. A missed poll is always among them, since every wait rests on its
  // price.
  [[nodiscard]] conduit::Charges charges() const;
  [[nodiscard]] ModelHost host(Rank rank);  // needs model_host.hpp
  [[nodiscard]] NodeId node_of(Rank rank) const { return NodeId{options_.node_of[index(rank)]}; }
  [[nodiscard]] std::span<const Rank> ranks_of(NodeId node) const;  // ascending
  // Return which thread runs the node, 0..partitions() - 1: data kept per partition needs no lock.
  [[nodiscard]] unsigned partition_of(NodeId node) const { return nodes_[index(node)].partition->number(); }

  // Scale a time of software by the pace of its node.
  [[nodiscard]] SimTime paced(NodeId node, SimTime time) const {
    return options_.slowness.empty() ? time : options_.slowness[index(node)].of(time);
  }
  // Prices of the machine, whatever pace a node keeps.
  [[nodiscard]] const conduit::HostPrices& prices() const { return options_.prices; }

  // Instant that every rank has reached: the next run() goes on from there.
  [[nodiscard]] SimTime now() const { return reached_; }

  // Promise that a network carries nothing from one node to another in less than `least`. Called before the first
  // run(); the least of all promises counts. Throws UsageError for less than 1 ps.
  void promise_lookahead(SimTime least);

  // Give a rank its body, which starts with the next run(). A rank whose body has returned may be given another.
  void start(Rank rank, std::function<void()> body);

  // Run until every body has returned or is parked. Parked bodies resume at one instant: where the last run() ended.
  // This instant is a multiple of a power of two (Partition::block_end()) or, with a single node, the one at which its
  // last rank parked. Throws what a body or a device throws, Deadlock (one line per waiting rank) or Interrupted. All
  // bodies are cancelled before, and the engine can then only be destroyed.
  void run();

  // Unwind every body. For owners of objects that suspended bodies still use.
  void cancel() noexcept;
  [[nodiscard]] bool cancelled() const { return cancelled_; }

  [[nodiscard]] StopToken& stop_token() { return stop_; }
  // Throw Interrupted if a stop was requested. For long work that is done between events.
  void check_stop() const;

  // --- for devices and bodies, each on its own node
  // Let `action` happen on node `to` at `at`. A rank that posts is synchronised first, so that the order of posting is
  // that of the ranks' clocks. An event for another node comes no sooner than the promised lookahead. Between runs `at`
  // is not before now(). With several nodes nothing may be posted before the first run.
  GASMETER_INLINE void post(NodeId from, NodeId to, SimTime at, Action& action) {
    Node& poster = nodes_[index(from)];
    Partition& partition = *poster.partition;
    if (GASMETER_UNLIKELY(partition.current != nullptr || at < partition.now)) prepare_post(partition, at);
    const Tie tie = event_tie(from, poster.posted++);
    if (GASMETER_UNLIKELY(tracer_ != nullptr)) trace_post(partition, from, to, at, tie, action);
    partition.post(to, at, tie, action);
  }
  // Post in the place of another event, whose tie (its place among events of one instant: action.hpp) it takes, or
  // before or behind all other events of the instant.
  void post(NodeId from, NodeId to, SimTime at, Action& action, Tie tie) {
    Partition& partition = *nodes_[index(from)].partition;
    if (partition.current != nullptr || at < partition.now) prepare_post(partition, at);
    if (GASMETER_UNLIKELY(tracer_ != nullptr)) trace_post(partition, from, to, at, tie, action);
    partition.post(to, at, tie, action);
  }
  // Apply an action to a device at the rank's clock, in its place among the acts of ranks. The rank need not wait for
  // it and may run on. It is not counted as an event.
  GASMETER_INLINE void act(RankContext& rank, Action& action) {
    if (GASMETER_LIKELY(rank.partition->free_to_go_on(rank))) {
      rank.partition->now = rank.clock;
      action(rank.clock);
    } else {
      act_later(rank, action);
    }
  }
  // Return the tie of what happens on the node now.
  [[nodiscard]] Tie tie_of_now(NodeId node) const { return nodes_[index(node)].partition->now_tie; }
  // For a device that a rank calls: let everything happen that comes before the rank's clock on its node.
  GASMETER_INLINE void catch_up(NodeId node) {
    Partition& partition = *nodes_[index(node)].partition;
    if (partition.current != nullptr && !cancelled_) synchronise(*partition.current);
  }
  // Called by the object that keeps the links between nodes, before the first run(). An engine has at most one such
  // object; UsageError for a second.
  void set_wiring(Wiring::Carry carry, Wiring& wiring);
  void forget_wiring() { wiring_ = nullptr; }  // for wiring that goes before the engine, which does not run again
  [[nodiscard]] Partition& partition(NodeId node) { return *nodes_[index(node)].partition; }
  // End the rank's idle() at `at` or, if the rank does not sleep then, its next idle() at once. Called on its own node.
  void wake(Rank rank, SimTime at);
  // End the rank's stall at `at`, not before now; the rank may begin its stall later. Called on its own node.
  void resume(Rank rank, SimTime at);
  // Say that the rank's core can be interrupted. Called before the first run().
  void take_interrupts(Rank rank) { taken_of(context(rank)).takes_interrupts = true; }
  // Interrupt the rank's core now, for `cost`: whatever the rank does goes on that much later. `handled`, unless null,
  // happens when the core is done with the interrupt. Interrupts of one core follow one another; a stalled core takes
  // them when it goes on. Called on the rank's own node.
  void interrupt(Rank rank, SimTime cost, Action* handled);
  // Tell whether the rank is in work(), which messages may interrupt; asked at an instant of its own node.
  [[nodiscard]] bool computes(Rank rank) const { return contexts_[index(rank)].state == RankState::working; }
  // Return the time that interrupts have taken from the rank so far.
  [[nodiscard]] SimTime interrupted(Rank rank) const {
    const TakenTime* const taken = taken_[index(rank)].get();
    return taken != nullptr ? taken->taken : SimTime{};
  }
  // Let the node's memory move `bytes` from `now` on, behind all earlier requests; return when it is done. `now` is not
  // before the current instant of the node.
  [[nodiscard]] SimTime use_memory(NodeId node, SimTime now, Bytes bytes);

  // --- for bodies; called on the rank's own fibre
  // Wait for the next run().
  void park(Rank rank);
  // Synchronise, then call step(argument) on the stack of the caller of run(), which frames of other languages need. No
  // rank runs in between. The step must not wait or charge shared prices: those need the rank's own stack.
  void on_main_stack(Rank rank, MainStep step, void* argument);
  // Memory for packets of a network, where EngineOptions ask for it: StackPool::take_room() of that partition's ranks.
  [[nodiscard]] std::span<std::byte> take_room(unsigned partition) { return stacks_[partition].take_room(); }
  // Set the text that a deadlock report gives for the rank's wait; a literal or null.
  void describe_wait(Rank rank, const char* what) { waits_[index(rank)].what = what; }
  // Tell what a write to the node's memory at [memory, memory + bytes) does to the rank.
  [[nodiscard]] WakeEffect effect_of_write(Rank rank, const std::byte* memory, Bytes bytes) const;
  // Return where the looks of a sleeping rank begin in [memory, memory + bytes); `bytes`: nowhere.
  [[nodiscard]] Bytes first_look_in(Rank rank, const std::byte* memory, Bytes bytes) const;
  // Let a network's long transfers pass at once where they may.
  [[nodiscard]] FastForward& fast_forward() { return *fast_forward_; }

  // --- for ModelHost
  // Let everything happen that comes before the rank's clock. Costs nothing where nothing is pending on the node before
  // it.
  GASMETER_INLINE void synchronise(RankContext& rank) {
    if (GASMETER_LIKELY(rank.partition->free_to_go_on(rank))) {
      rank.partition->now = rank.clock;
    } else {
      give_way(rank);
    }
  }
  void notify(RankContext& from, Rank rank);
  bool idle(RankContext& rank, SimTime deadline);
  bool idle(RankContext& rank, SimTime deadline, const Looks& looks);
  void stall(RankContext& rank);
  [[nodiscard]] SimTime work(RankContext& rank, SimTime amount, bool cut);
  void price_polls(RankContext& rank, SimTime price);
  void price_misses(RankContext& rank, SimTime price);
  [[nodiscard]] SimTime poll_price(const RankContext& rank) const { return taken_[index(rank.rank)]->poll_price; }
  [[nodiscard]] Tracer* tracer() const { return tracer_; }

  // Tell the tracer all that happens from now on. Called between runs; the tracer outlives the engine or is taken off
  // again (null). Times stay the same. Throws UsageError where the engine runs on several threads.
  void trace(Tracer* tracer);

 private:
  static const EngineOptions& checked(const EngineOptions& options);
  void place_ranks();
  void set_pace(RankContext& rank);
  [[nodiscard]] bool is_slow(const RankContext& rank) const;
  [[nodiscard]] RankContext& context(Rank rank);
  // taken_time.cpp
  [[nodiscard]] TakenTime& taken_of(RankContext& rank);
  [[nodiscard]] SimTime after_missed_polls(const RankContext& rank, SimTime until) const;
  [[nodiscard]] SimTime poll_miss(const RankContext& rank) const;
  void seek(RankContext& rank, SimTime until);
  void end_wait(RankContext& rank);
  SimTime handle(const RankContext& rank, SimTime from, const TakenTime::Interrupt& interrupt);
  static void put_off(RankContext& rank, SimTime until);
  void cut_work(RankContext& rank);
  [[nodiscard]] std::string deadlock_report() const;
  [[nodiscard]] SimTime latest() const;
  [[nodiscard]] unsigned live() const;
  void give_way(RankContext& rank);
  void act_later(RankContext& rank, Action& action);
  void prepare_post(Partition& partition, SimTime at);
  void trace_post(const Partition& partition, NodeId from, NodeId to, SimTime at, Tie tie, const Action& action);
  void wake_now(RankContext& rank, bool by_network = true);
  static void on_wake(Action& self, SimTime now);
  // Throw UsageError outside of the rank's body and inside a catch block. Every wait calls this.
  static GASMETER_INLINE void require_may_wait(const RankContext& rank) {
    const Partition& partition = *rank.partition;
    if (GASMETER_UNLIKELY(partition.current != &rank || partition.in_catch_block())) refuse_wait(rank);
  }
  static void refuse_wait(const RankContext& rank);
  void open_windows();
  void resume_parked();
  void run_alone();
  void run_windows(FibreMaker fibres);
  void leave_run();
  void rethrow_failure() const;

  EngineOptions options_;
  std::deque<StackPool> stacks_;  // by partition
  Tracer* tracer_ = nullptr;
  std::vector<Node> nodes_;
  std::deque<Partition> partitions_;
  std::vector<RankContext> contexts_;
  std::vector<std::unique_ptr<conduit::HostPrices>> own_prices_;  // by rank; null: the rank pays the host's prices
  std::vector<std::unique_ptr<TakenTime>> taken_;                 // by rank; null: nothing takes time from the rank
  struct Wait {
    const char* what = nullptr;  // for a deadlock report
    SimTime worked{-1};          // the rank's clock less `idled`, when its last idle() with Looks began
    const std::byte* memory = nullptr;
    std::uint32_t bytes = 0;
    bool at_polls_alone = false;
    bool costs_nothing = false;  // the rank's work between two sleeps
  };
  std::vector<Wait> waits_;  // by rank
  std::vector<Rank> by_node_;
  std::vector<std::uint32_t> first_of_node_;  // in by_node_; one more at the end
  SimTime lookahead_ = kNever;
  SimTime reached_;
  bool started_ = false;
  bool running_ = false;
  bool cancelled_ = false;
  Wiring* wiring_ = nullptr;
  std::unique_ptr<FastForward> fast_forward_;
  StopToken stop_;
};

}  // namespace gasmeter::sim

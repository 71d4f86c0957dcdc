// The virtual-time engine: ranks as fibres and device events in exact order of integer picoseconds.
//
// A rank runs ahead on its own clock. What others can see (or could have changed) it does only after synchronise(),
// which lets everything happen that comes before (clock, rank). Order of one instant: device events in the order of
// their posting, then ranks by number. Neither depends on how far a rank ran ahead, so that synchronising at every
// price (EngineOptions::strict) gives the same bytes and the same picoseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/sim/event_queue.hpp"
#include "gasmeter/sim/rank_context.hpp"
#include "gasmeter/sim/rank_queue.hpp"
#include "gasmeter/sim/stack_pool.hpp"

namespace gasmeter::sim {

class ModelHost;

// The run was stopped from outside (StopToken).
class Interrupted : public Error {
 public:
  using Error::Error;
};

// Any thread or signal handler may request; the engine looks every few thousand steps.
class StopToken {
 public:
  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_{false};
};

struct EngineOptions {
  unsigned ranks = 2;
  unsigned nodes = 2;  // filled in rank order, ceil(ranks / nodes) each
  conduit::HostPrices prices;
  bool strict = false;    // synchronise before every price: the oracle for missing synchronise() calls
  Bytes stack_bytes = 0;  // 0: Fibre::default_stack_bytes()
  std::uint64_t seed = 1;
};

// The ranks of a node: first, first + 1, ...
struct RankRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  [[nodiscard]] constexpr bool contains(Rank rank) const { return index(rank) >= first && index(rank) - first < count; }
};

struct EngineCounters {
  std::uint64_t events = 0;    // device events fired
  std::uint64_t switches = 0;  // times a rank was resumed; depends on how far ranks run ahead
};

// One modelled job. Several may live in a process; each is used by one thread at a time. Not copyable.
class Engine {
 public:
  // Throws UsageError for no ranks, no nodes, negative prices, or a missed poll that costs nothing (a rank that polls
  // would stop time).
  explicit Engine(const EngineOptions& options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();  // cancels

  [[nodiscard]] unsigned ranks() const { return static_cast<unsigned>(contexts_.size()); }
  [[nodiscard]] unsigned nodes() const { return options_.nodes; }
  [[nodiscard]] std::uint64_t seed() const { return options_.seed; }
  [[nodiscard]] const EngineCounters& counters() const { return counters_; }
  [[nodiscard]] ModelHost host(Rank rank);  // needs model_host.hpp
  [[nodiscard]] NodeId node_of(Rank rank) const;
  [[nodiscard]] RankRange ranks_of(NodeId node) const;

  // The instant that happens now; a rank's own clock may be ahead of it.
  [[nodiscard]] SimTime now() const { return now_; }

  // Gives a rank its body; it starts with the next run(). A rank whose body returned may be given another.
  void start(Rank rank, std::function<void()> body);

  // Runs until every body has returned or is parked. Bodies that were parked resume at the same instant, the latest
  // that the last run() reached. Throws what a body or a device throws, Deadlock (one line per waiting rank),
  // Interrupted; all bodies are cancelled before, and the engine can then only be destroyed.
  void run();

  // Unwinds every body. For owners of objects that suspended bodies still use.
  void cancel() noexcept;

  [[nodiscard]] StopToken& stop_token() { return stop_; }

  // --- for devices
  // Posted by a rank: synchronises it first, so that the order of posting is that of the ranks' clocks.
  void post(SimTime at, Event event);
  // Ends the rank's idle() at `at` or, if the rank does not sleep then, its next one at once.
  void wake(Rank rank, SimTime at);

  // --- for bodies; called on the rank's own fibre
  // Waits for the next run().
  void park(Rank rank);
  // What a deadlock report shall say of the rank's wait; a literal or null.
  void describe_wait(Rank rank, const char* what) { context(rank).waits_for = what; }

  // --- for ModelHost
  // Free where nothing is pending that comes before the rank's clock.
  GASMETER_INLINE void synchronise(RankContext& rank) {
    if (GASMETER_UNLIKELY(must_give_way(rank) || current_ != &rank || --steps_to_check_ <= 0)) {
      give_way(rank);
    } else {
      now_ = rank.clock;
    }
  }
  void notify(RankContext& from, Rank rank);
  void idle(RankContext& rank, SimTime deadline);

 private:
  class Waker final : public Device {
   public:
    explicit Waker(Engine& engine) : engine_(engine) {}
    void fire(SimTime now, void* subject) override;

   private:
    Engine& engine_;
  };

  static const EngineOptions& checked(const EngineOptions& options);
  [[nodiscard]] RankContext& context(Rank rank);
  [[nodiscard]] bool must_give_way(const RankContext& rank) const {
    return events_.earliest() <= rank.clock || ready_.any_before({rank.clock, index(rank.rank)});
  }
  [[nodiscard]] bool unwinding() const { return std::uncaught_exceptions() > outer_uncaught_; }
  [[nodiscard]] SimTime after_missed_polls(const RankContext& rank, SimTime until) const;
  [[nodiscard]] std::string deadlock_report() const;
  void give_way(RankContext& rank);
  void queue(RankContext& rank, SimTime at);
  void resume(RankContext& rank, SimTime at);
  void wake_now(RankContext& rank);
  void require_may_wait(const RankContext& rank) const;
  void check_stop();
  void resume_parked();
  void loop();

  EngineOptions options_;
  unsigned ranks_per_node_;
  StackPool stacks_;
  std::vector<RankContext> contexts_;
  EventQueue events_;
  RankQueue ready_;
  Waker waker_{*this};
  SimTime now_;
  RankContext* current_ = nullptr;
  unsigned live_ = 0;  // bodies that have neither returned nor parked
  int steps_to_check_ = 0;
  bool running_ = false;
  bool cancelled_ = false;
  int outer_uncaught_ = 0;           // exceptions of run()'s caller
  std::exception_ptr outer_caught_;  // likewise
  EngineCounters counters_;
  StopToken stop_;
};

}  // namespace gasmeter::sim

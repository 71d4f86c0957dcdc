// The nodes that one thread runs: window by window, in a window node by node, on a node in exact order.
//
// Nothing that a node does reaches another one sooner than the engine's lookahead, and a window is no longer than that:
// inside a window nodes know nothing of one another, in whatever order and on whatever thread they run.
#pragma once

#include <cxxabi.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/rank_context.hpp"
#include "gasmeter/sim/window_queue.hpp"

namespace gasmeter::sim {

class Engine;
class StopToken;

// The exceptions that this thread deals with. The runtime keeps them per thread, not per stack.
struct Exceptions {
  const void* caught;
  unsigned uncaught;

  // One look at what the C++ ABI for Itanium (2.2.2) lays down, instead of two calls and a reference count.
  [[nodiscard]] static Exceptions here() {
    Exceptions exceptions;  // trivial: filled whole below
    std::memcpy(&exceptions, static_cast<const void*>(abi::__cxa_get_globals()), sizeof exceptions);
    return exceptions;
  }
};

// What the engine keeps of one node.
struct Node {
  Partition* partition = nullptr;
  std::uint64_t posted = 1;  // number of its next event; 0 is for what comes before all others of the instant
  SimTime memory_free;       // when its memory has moved what was asked of it
};

struct EngineCounters {
  std::uint64_t events = 0;    // device events
  std::uint64_t switches = 0;  // times a rank was resumed; depends on how far ranks run ahead
  std::uint64_t windows = 0;   // opened, by all partitions
};

// What a rank has done for it on the main stack. It neither waits nor throws, and no virtual time passes.
using MainStep = void (*)(void* argument) noexcept;

class alignas(kNoSharing) Partition {
 public:
  using Window = WindowQueue::Window;

  // `nodes`: of the whole engine.
  Partition(unsigned number, unsigned partitions, Engine& of, std::vector<Node>& nodes, const StopToken& stop);

  // Window w covers [w << shift, (w + 1) << shift) ps. A single node has but one, which is always open.
  void set_windows(unsigned shift, SimTime lookahead) {
    if (alone_) return;
    has_windows_ = true;
    shift_ = shift;
    lookahead_ = lookahead;
  }

  [[nodiscard]] unsigned number() const { return number_; }

  // --- called by what runs in it, or between runs
  GASMETER_INLINE void post(NodeId to, SimTime at, Tie tie, Action& action) {
    action.tie = tie;
    const Window window = at.ps >> shift_;
    if (to == node_ && window == window_) {
      push_pending({at.ps, tie, &action});
      return;
    }
    if (GASMETER_LIKELY(window_ != kClosed && (to == node_ || at - now >= lookahead_) && holds(to))) {
      queue_.post(window, entry(to, at, action));
      return;
    }
    post_elsewhere(to, at, action);
  }
  void post_turn(RankContext& rank, SimTime at);
  // A rank whose clock is before this need not give way to anything.
  [[nodiscard]] GASMETER_INLINE bool free_to_go_on(const RankContext& rank) const {
    return rank.clock.ps < limit_ && current == &rank;
  }
  // Whether something on its node comes before the rank's clock; after the end of the window everything may.
  [[nodiscard]] bool must_give_way(const RankContext& rank) const;
  // Looks at the stop token and lets the rank go on.
  void go_on(const RankContext& rank);
  [[nodiscard]] bool stop_requested() const;
  [[nodiscard]] SimTime window_end(SimTime at) const { return {((at.ps >> shift_) + 1) << shift_}; }
  [[nodiscard]] bool unwinding() const { return Exceptions::here().uncaught > outer.uncaught; }

  // For the rank that runs: leaves its fibre, calls step(argument) on the main stack and comes back.
  void on_main_stack(RankContext& rank, MainStep step, void* argument) {
    step_ = step;
    step_argument_ = argument;
    rank.fibre->suspend();
  }

  // The engine's view of what runs here.
  Engine* const engine;
  SimTime now;                     // the instant that happens now
  Tie now_tie = 0;                 // of what happens now
  SimTime latest;                  // the last one at which something has happened
  RankContext* current = nullptr;  // whose fibre runs
  unsigned live = 0;               // bodies that have neither returned nor parked
  Exceptions outer;                // of who runs this partition

  // --- called by the engine's loop
  // The earliest window of this partition and of what it has posted to others.
  [[nodiscard]] Window next_window() const;
  // A window in which nothing happens here may be left out.
  void run_window(Window window);
  // The single node, until every body is parked or has returned or the stop token says so. False: nothing is left.
  bool run_alone();
  // After a window: takes over what `other` posted for this one in windows of that parity.
  void receive_from(Partition& other, unsigned parity);
  [[nodiscard]] unsigned parity() const { return parity_; }
  void turn_parity();

  [[nodiscard]] const EngineCounters& counters() const { return counters_; }
  // The first failure of the last window, in virtual time; null if there is none.
  struct Failure {
    std::exception_ptr what;
    SimTime at = kNever;
    NodeId node{};
  };
  [[nodiscard]] const Failure& failure() const { return failure_; }
  // Some body of it still runs, and none has failed.
  [[nodiscard]] bool goes_on() const { return live != 0 && failure_.what == nullptr; }

 private:
  struct Pending {
    std::int64_t at;
    Tie tie;
    Action* action;
    [[nodiscard]] bool before(const Pending& other) const { return at != other.at ? at < other.at : tie < other.tie; }
  };
  // An object, not a function: it is compiled into the heap's loops.
  struct Later {
    bool operator()(const Pending& a, const Pending& b) const { return b.before(a); }
  };
  [[nodiscard]] GASMETER_INLINE bool holds(NodeId node) const { return only_ || nodes_[index(node)].partition == this; }
  [[nodiscard]] Posted entry(NodeId to, SimTime at, Action& action) const {
    return {Posted::at(to, at.ps & ((std::int64_t{1} << shift_) - 1)), &action};
  }
  // The next entry of the node that runs; there is one.
  [[nodiscard]] Pending next_entry() const {
    return {(window_ << shift_) + cursor_->offset(), cursor_->action->tie, cursor_->action};
  }

  static constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::min();
  static constexpr Window kClosed = -1;
  static constexpr unsigned kAloneShift = 62;

  void post_elsewhere(NodeId to, SimTime at, Action& action);
  void sort(std::vector<Posted>& entries);
  void run_node(const Posted* first, const Posted* last);
  void fire(const Pending& event);
  void push_pending(const Pending& entry);
  Pending pop_pending();
  void take_turn(RankContext& rank, SimTime now);
  static void on_turn(Action& self, SimTime now);
  friend struct RankContext;

  std::int64_t limit_ = kNobody;
  MainStep step_ = nullptr;  // asked for by the rank that runs
  void* step_argument_ = nullptr;
  std::int64_t window_end_ = 0;
  Window window_ = kClosed;
  unsigned shift_ = 0;
  NodeId node_{};  // the one that runs
  bool alone_;     // with one node
  bool only_;      // without other partitions
  bool has_windows_ = false;
  const Posted* cursor_ = nullptr;  // of the node that runs: what is left of its part of the window
  const Posted* cursor_end_ = nullptr;
  const Posted* fetch_end_ = nullptr;  // of the window: behind it are too few to fetch one ahead
  std::vector<Pending> pending_;       // of the node that runs, posted inside the window
  SimTime lookahead_ = kNever;
  unsigned number_;
  std::vector<Node>& nodes_;
  const StopToken& stop_;
  WindowQueue queue_;
  std::vector<Posted> entries_;  // of the open window
  std::vector<Posted> sorted_;
  std::vector<std::uint32_t> buckets_;
  struct Sent {
    Window window;
    Posted entry;
  };
  // To each other partition, of even and of odd windows: written in one, read after its end, while the next is written.
  std::array<std::vector<std::vector<Sent>>, 2> sent_;
  std::array<Window, 2> sent_next_{WindowQueue::kNone, WindowQueue::kNone};
  unsigned parity_ = 0;
  Failure failure_;
  EngineCounters counters_;
};

}  // namespace gasmeter::sim

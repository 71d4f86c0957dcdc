// The nodes that one thread runs: window by window, in a window node by node, on a node in exact order.
//
// No node reaches another sooner than the engine's lookahead, and a window is no longer than that. Inside a window
// nodes know nothing of one another, in whatever order and on whatever thread they run.
#pragma once

#include <cxxabi.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <span>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/engine/pending.hpp"
#include "gasmeter/sim/engine/posted.hpp"
#include "gasmeter/sim/engine/rank_context.hpp"
#include "gasmeter/sim/engine/window_queue.hpp"

namespace gasmeter::sim {

class Engine;
class StopToken;

// Exceptions that this thread is handling. The runtime keeps them per thread, not per stack.
struct Exceptions {
  const void* caught;
  unsigned uncaught;

  // Read what the C++ ABI for Itanium (2.2.2) lays down: one load instead of two calls and a reference count.
  [[nodiscard]] static Exceptions at(const void* globals) {
    Exceptions exceptions;  // trivial: filled whole below
    std::memcpy(&exceptions, globals, sizeof exceptions);
    return exceptions;
  }
  // Return where this thread keeps its exceptions.
  [[nodiscard]] static const void* globals() { return abi::__cxa_get_globals(); }
};

// Numbers of one node's events at an instant: 0 comes before all others, 1 is for express packets, the next numbers are
// for links that look for buffers, one for each port. From kFirstPosted on events are counted.
inline constexpr std::uint64_t kFirstOfLinks = 2;
inline constexpr std::uint64_t kFirstPosted = kFirstOfLinks + (1U << 17U);

// State that the engine keeps of one node.
struct Node {
  Partition* partition = nullptr;
  std::uint64_t posted = kFirstPosted;  // number of the node's next event
  SimTime memory_free;                  // when the memory has served all requests
  std::uint32_t live = 0;               // bodies of its ranks that have neither returned nor parked
};

class Partition;

// The object that keeps the links between nodes.
class Wiring {
 public:
  // Take express packets to the node that runs: the next entry first, and more as long as they are next before `until`.
  // Over one link no other express packet comes at the same instant.
  using Carry = void (*)(Wiring& wiring, Partition& partition, SimTime until);
  // Carry one express packet that arrives now, outside of windows.
  virtual void carry_one(Partition& partition, const Posted& express) = 0;

  // Return where the link begins over which the packet comes.
  [[nodiscard]] virtual NodeId origin(const Posted& express) const = 0;
  // Begin to trace what happens, or cease to.
  virtual void be_traced(bool traced) = 0;
  // A buffer falls free at the end of a link at `at`. Tells the node at the link's beginning, on that node's thread.
  virtual void credit(std::uint32_t link, std::uint32_t channel, SimTime at) = 0;

 protected:
  Wiring() = default;
  Wiring(const Wiring&) = default;
  Wiring& operator=(const Wiring&) = default;
  ~Wiring() = default;
};

struct EngineCounters {
  std::uint64_t events = 0;    // device events
  std::uint64_t switches = 0;  // times a rank was resumed; depends on how far ranks run ahead
  std::uint64_t windows = 0;   // opened, by all partitions
};

// Step that a rank runs on the main stack. It neither waits nor throws, and no virtual time passes.
using MainStep = void (*)(void* argument) noexcept;

class alignas(kNoSharing) Partition {
 public:
  using Window = WindowQueue::Window;

  // `nodes`: all nodes of the engine.
  Partition(unsigned number, unsigned partitions, Engine& of, std::vector<Node>& nodes, const StopToken& stop);

  // Set the windows: window w covers [w * length, (w + 1) * length) ps, no longer than the lookahead, and at most 1 <<
  // 31. A single node has one window, which is always open. Blocks of bodies end at multiples of 1 << block_shift.
  void set_windows(SimTime length, SimTime lookahead, unsigned block_shift) {
    block_shift_ = block_shift;
    if (alone_) return;
    length_ = length.ps;
    lookahead_ = lookahead;
  }

  void set_wiring(Wiring::Carry carry, Wiring& wiring) {
    carry_ = carry;
    wiring_ = &wiring;
  }

  [[nodiscard]] unsigned number() const { return number_; }
  // Add a node. The nodes of a partition follow one another.
  void own(NodeId node) {
    if (owned_nodes_++ == 0) first_node_ = index(node);
  }
  [[nodiscard]] GASMETER_INLINE bool owns(NodeId node) const { return index(node) - first_node_ < owned_nodes_; }

  // --- called by code that runs in the partition, or between runs. Throws UsageError for an instant behind
  // kLastInstant.
  GASMETER_INLINE void post(NodeId to, SimTime at, Tie tie, Action& action) {
    action.tie = tie;
    const std::int64_t behind = at.ps - window_end_;
    if (behind < 0 && to == node_) {
      push_pending({at.ps, tie, &action});
    } else if (GASMETER_LIKELY(behind < length_ && (to == node_ || at - now >= lookahead_) && owns(to))) {
      queue_.post_next(Posted::at(to, behind), &action, Express::kNone);
    } else {
      post_elsewhere(to, at, action);
    }
  }
  // Send an express packet over a link, whose latency is no less than the lookahead. Throws as post() does.
  GASMETER_INLINE void send(NodeId to, SimTime at, Action* what, Express express) {
    const std::int64_t behind = at.ps - window_end_;
    if (GASMETER_LIKELY(behind < length_ && owns(to))) {
      queue_.post_next(Posted::at(to, behind), what, express.word());
    } else {
      put_elsewhere(to, at, what, express.word());
    }
  }

  // --- for Wiring::Carry, on the node that runs
  // Return when the open window begins.
  [[nodiscard]] SimTime open_begin() const { return {window_end_ - length_}; }
  // Take the next entry, which is express and happens now. A caller that takes entries sets `latest` afterwards.
  [[nodiscard]] GASMETER_INLINE const Posted& take_express(SimTime begin) {
    const Posted& entry = *cursor_++;
    now = begin + SimTime{entry.offset()};
    ++counters_.events;
    return entry;
  }
  // Tell whether another express packet is certain to be next before `until`; an instant shared with another event
  // counts as no.
  [[nodiscard]] GASMETER_INLINE bool express_is_next(SimTime begin, SimTime until) const {
    if (cursor_ == cursor_end_ || !cursor_->is_express()) return false;
    const std::int64_t at = begin.ps + cursor_->offset();
    return at < until.ps && (pending_.empty() || at < pending_.front().at);
  }
  // Return an entry that comes soon, whose data the caller prefetches, or `taken` where there is none.
  [[nodiscard]] GASMETER_INLINE const Posted& soon(const Posted& taken) const {
    return cursor_ < fetch_end_ ? cursor_[kAhead] : taken;
  }
  // Take back the count of an event: it was posted for an instant that another posting has taken over.
  void uncount() { --counters_.events; }
  // Send a buffer to the beginning of a link that another partition holds.
  void send_credit(NodeId to, std::uint32_t link, std::uint32_t channel, SimTime at);
  void post_turn(RankContext& rank, SimTime at);
  // A rank whose clock is before the limit need not give way to anything.
  [[nodiscard]] GASMETER_INLINE bool free_to_go_on(const RankContext& rank) const {
    return rank.clock.ps < limit_ && current == &rank;
  }
  // Tell whether something on its node comes before the rank's clock; after the end of the window everything may.
  [[nodiscard]] bool must_give_way(const RankContext& rank) const;
  // Let what comes before the rank's clock happen on the rank's own stack, which saves two switches. Ends early where
  // another rank has a turn there, the window ends or something fails.
  enum class Caught : std::uint8_t { up, not_yet, never };
  [[nodiscard]] Caught catch_up(RankContext& rank);
  // Look at the stop token and let the rank go on.
  void go_on(const RankContext& rank);
  [[nodiscard]] bool stop_requested() const;
  [[nodiscard]] bool unwinding() const { return exceptions().uncaught > outer_.uncaught; }
  // Tell whether the running code is inside of a catch block that it has entered on its own stack.
  [[nodiscard]] bool in_catch_block() const { return exceptions().caught != outer_.caught; }

  // Leave the running rank's fibre, call step(argument) on the main stack and come back.
  void on_main_stack(RankContext& rank, MainStep step, void* argument) {
    step_ = step;
    step_argument_ = argument;
    rank.fibre->suspend();
  }

  // State of the partition, as the engine sees it.
  Engine* const engine;
  SimTime now;                     // the instant that happens now
  Tie now_tie = 0;                 // tie of the current event, unless it came express
  SimTime latest;                  // the last instant at which something has happened
  RankContext* current = nullptr;  // rank whose fibre runs
  unsigned live = 0;               // bodies that have neither returned nor parked

  // --- called by the engine's loop
  // Bind the partition to this thread from now on; also its ranks, unless each has a thread of its own.
  void enter_thread(FibreMaker fibres) {
    const bool shared = fibres != FibreMaker::thread;
    const void* const globals = Exceptions::globals();
    outer_ = shared ? Exceptions::at(globals) : Exceptions{};
    exceptions_ = shared ? globals : nullptr;
  }
  void leave_thread() { exceptions_ = nullptr; }
  // Return the earliest window of this partition and of the events it has posted to others.
  [[nodiscard]] Window next_window();
  // Run a window; a window in which nothing happens here may be left out. If a block may end inside the window, each
  // node without a live body stops at the boundary where the block would end: the node is held back. The window then
  // stays open until go_on_until(). Events behind the end of the block wait for the next block.
  void run_window(Window window);
  [[nodiscard]] bool holds_back() const { return !held_.empty(); }
  // Let held nodes go on until `until`; the rest of their events comes again.
  void go_on_until(SimTime until);
  [[nodiscard]] SimTime window_end() const { return {window_end_}; }
  // Return when the last opened window begins: nothing that is still to happen here comes before that.
  [[nodiscard]] SimTime window_begin() const { return {window_ * length_}; }
  // Return when a block ends if its last body is the last here to have returned or parked.
  [[nodiscard]] SimTime block_end() const { return block_end_; }
  // Count a body that begins here, or has come to its end.
  void begin_body(const RankContext& rank) {
    ++live;
    if (nodes_[index(rank.node)].live++ == 0) ++live_nodes_;
  }
  void end_body(const RankContext& rank);
  // Keep the exception that is being handled as a failure of this partition.
  void fail();
  // Run the single node until every body is parked or has returned, or the stop token asks for it. False: nothing is
  // left.
  bool run_alone();
  // Take over, after a window, the events that `other` posted for this partition in windows of that parity.
  void receive_from(Partition& other, unsigned parity);
  [[nodiscard]] unsigned parity() const { return parity_; }
  void turn_parity();

  // --- between windows, for FastForward, which takes posted events out of them
  // A posted event, taken out of its window.
  struct Loose {
    SimTime at;
    Tie tie = 0;
    Posted entry;
  };
  using Sift = WindowQueue::Sift;
  // Return an instant before which nothing is posted here.
  [[nodiscard]] SimTime posted_from() {
    const Window window = queue_.next();
    return window == WindowQueue::kNone ? kNever : SimTime{window * length_};
  }
  // Show each(loose) every event that is posted here; its result says what becomes of the event.
  template <class Each>
  void sift(Each&& each) {
    queue_.sift([&](Window window, const Posted& entry) {
      return each(Loose{{window * length_ + entry.offset()}, tie_of(entry), entry});
    });
  }
  // Collect events that are posted from now on; null: post them to windows again.
  void gather(std::vector<Loose>* loose) { gathered_ = loose; }
  void put(const Loose& loose) {
    if (GASMETER_UNLIKELY(loose.at > kLastInstant)) (void)checked_end(loose.at);
    const Window window = loose.at.ps / length_;
    queue_.post(window, {Posted::at(NodeId{loose.entry.node()}, loose.at.ps - window * length_), loose.entry.action,
                         loose.entry.express});
  }
  void happen(const Loose& loose);

  [[nodiscard]] const EngineCounters& counters() const { return counters_; }
  // First failure of the last window, in virtual time; null if there is none.
  struct Failure {
    std::exception_ptr what;
    SimTime at = kNever;
    NodeId node{};
  };
  [[nodiscard]] const Failure& failure() const { return failure_; }
  // Tell whether `next` is to be run behind `last`: a body is live, or the block of the last body ends behind that
  // window.
  [[nodiscard]] bool goes_on(unsigned bodies, SimTime end, Window last, Window next) const {
    return bodies != 0 || ((last + 1) * length_ < end.ps && next * length_ < end.ps);
  }

 private:
  // Order of a window's entries.
  struct Earlier {
    const Partition* partition;
    bool operator()(const Posted& a, const Posted& b) const {
      return a.place != b.place ? a.place < b.place : partition->is_before(a, b);
    }
  };
  [[nodiscard]] Tie tie_of(const Posted& entry) const {
    return entry.is_express() ? express_tie(wiring_->origin(entry)) : entry.action->tie;
  }
  [[nodiscard]] bool is_before(const Posted& a, const Posted& b) const;
  [[nodiscard]] std::int64_t time_of(const Posted& entry) const { return window_end_ - length_ + entry.offset(); }
  // Compare an entry of the running node's window with a pending event.
  [[nodiscard]] GASMETER_INLINE bool is_before(const Posted& entry, const Pending& pending) const {
    const std::int64_t at = time_of(entry);
    return at != pending.at ? at < pending.at : tie_of(entry) < pending.tie;
  }
  // Tell whether an entry of the window is the running node's next event, not a pending one.
  [[nodiscard]] GASMETER_INLINE bool entry_is_next() const {
    return cursor_ != cursor_end_ && (pending_.empty() || is_before(*cursor_, pending_.front()));
  }

  static constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kClosed = -(std::int64_t{1} << 32);  // as the end of a window: earlier than any

  // A call to find the exceptions costs as much as an event: enter_thread() has looked where they are.
  [[nodiscard]] GASMETER_INLINE Exceptions exceptions() const {
    return Exceptions::at(GASMETER_LIKELY(exceptions_ != nullptr) ? exceptions_ : Exceptions::globals());
  }
  static constexpr std::size_t kAhead = 4;  // entries whose memory is fetched before their turn
  // Throw UsageError for an instant behind the end of virtual time. Events that destructors of cancelled bodies post
  // are moved there instead.
  [[nodiscard]] SimTime checked_end(SimTime at) const;
  void post_elsewhere(NodeId to, SimTime at, Action& action);
  void put_later(NodeId to, SimTime at, Action* what, std::uint64_t express);
  void put_elsewhere(NodeId to, SimTime at, Action* what, std::uint64_t express);
  [[nodiscard]] std::int64_t behind_boundary(std::int64_t at) const {
    return ((at >> block_shift_) + 1) << block_shift_;
  }
  [[nodiscard]] std::span<Posted> in_order(const PostedList& list);
  [[nodiscard]] std::span<Posted> sorted(const PostedList& list);
  [[nodiscard]] std::span<Posted> dealt(const PostedList& list, std::size_t count);
  void run_node(const Posted* first, const Posted* last);
  void run_events();
  void run_next(std::int64_t until);
  void close();
  void run_until(std::int64_t until);
  void fire(const Pending& event);
  void push_pending(const Pending& entry);
  void take_turn(RankContext& rank, SimTime now);
  static void on_turn(Action& self, SimTime now);
  friend struct RankContext;

  std::int64_t limit_ = kNobody;
  Exceptions outer_{};                // exceptions of the code that runs this partition
  const void* exceptions_ = nullptr;  // their address; null: each rank has a thread, or nobody runs
  MainStep step_ = nullptr;           // step that the running rank has asked for
  void* step_argument_ = nullptr;
  std::int64_t window_end_ = kClosed;
  std::int64_t length_ = 0;  // length of windows; 0: none yet
  Window window_ = 0;
  unsigned block_shift_ = 0;
  std::int64_t held_from_ = kNever.ps;  // the running node must not go on from there
  NodeId node_{};                       // the running node
  bool alone_;                          // the engine has one node
  std::uint32_t first_node_ = 0;        // the first owned node
  std::uint32_t owned_nodes_ = 0;
  const Posted* cursor_ = nullptr;  // the rest of the running node's part of the window
  const Posted* cursor_end_ = nullptr;
  const Posted* fetch_end_ = nullptr;  // in the window: the entries behind it are too few to fetch one ahead
  PendingEvents pending_;              // posted by the running node inside the window
  SimTime lookahead_ = kNever;
  unsigned number_;
  std::vector<Node>& nodes_;
  const StopToken& stop_;
  WindowQueue queue_;
  PostedList few_;  // entries of the open window, where they stay in their chunk
  PostedRow row_;   // all other entries of the open window
  std::vector<std::uint32_t> buckets_;
  // A node that has not run to the end of the window.
  struct Held {
    NodeId node;
    const Posted* first;
    const Posted* last;
    std::vector<Pending> pending;
  };
  std::vector<Held> held_;
  std::size_t live_nodes_ = 0;  // nodes on which a body is live
  bool may_end_ = false;        // the block may end in this window
  SimTime block_end_;
  struct SentEntry {
    Window window;
    Posted entry;
  };
  struct SentCredit {
    std::uint32_t link;
    std::uint32_t channel;
    SimTime at;
  };
  struct Sent {
    std::vector<SentEntry> entries;
    std::vector<SentCredit> credits;
  };
  // Events for each other partition, in even and odd windows: written in one, read after its end, while the next is
  // written.
  std::array<std::vector<Sent>, 2> sent_;
  Wiring* wiring_ = nullptr;
  Wiring::Carry carry_ = nullptr;
  std::array<Window, 2> sent_next_{WindowQueue::kNone, WindowQueue::kNone};
  unsigned parity_ = 0;
  Failure failure_;
  EngineCounters counters_;
  std::vector<Loose>* gathered_ = nullptr;
};

}  // namespace gasmeter::sim

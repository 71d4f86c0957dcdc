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
#include <span>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/pending.hpp"
#include "gasmeter/sim/posted.hpp"
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
  [[nodiscard]] static Exceptions at(const void* globals) {
    Exceptions exceptions;  // trivial: filled whole below
    std::memcpy(&exceptions, globals, sizeof exceptions);
    return exceptions;
  }
  // Where those of this thread are.
  [[nodiscard]] static const void* globals() { return abi::__cxa_get_globals(); }
};

// Of one node's events of an instant: 0 is for what comes before all others, 1 for what comes express, the next ones
// for links that look for buffers, each by its port; from kFirstPosted on they are counted.
inline constexpr std::uint64_t kFirstOfLinks = 2;
inline constexpr std::uint64_t kFirstPosted = kFirstOfLinks + (1U << 17U);

// What the engine keeps of one node.
struct Node {
  Partition* partition = nullptr;
  std::uint64_t posted = kFirstPosted;  // number of its next event
  SimTime memory_free;                  // when its memory has moved what was asked of it
  std::uint32_t live = 0;               // bodies of its ranks that have neither returned nor parked
};

class Partition;

// Who keeps the links between nodes.
class Wiring {
 public:
  // Takes what comes express to the node that runs, the next entry first, and more as long as they are next before
  // `until`. Over one link nothing else comes express at an instant.
  using Carry = void (*)(Wiring& wiring, Partition& here, SimTime until);
  // One that happens now, outside of windows.
  virtual void carry_one(Partition& here, const Posted& express) = 0;

  // Where the link begins by which it comes.
  [[nodiscard]] virtual NodeId origin(const Posted& express) const = 0;
  // From now on what happens is traced, or no longer.
  virtual void be_traced(bool traced) = 0;
  // At `at` a buffer falls free at the end of a link. For the node at its beginning, on that one's thread.
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

// What a rank has done for it on the main stack. It neither waits nor throws, and no virtual time passes.
using MainStep = void (*)(void* argument) noexcept;

class alignas(kNoSharing) Partition {
 public:
  using Window = WindowQueue::Window;

  // `nodes`: of the whole engine.
  Partition(unsigned number, unsigned partitions, Engine& of, std::vector<Node>& nodes, const StopToken& stop);

  // Window w covers [w * length, (w + 1) * length) ps, no longer than the lookahead, and 1 << 31 at most. A single node
  // has but one, which is always open. Blocks of bodies end at multiples of 1 << block_shift.
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
  // One node more: they follow one another.
  void own(NodeId node) {
    if (owned_nodes_++ == 0) first_node_ = index(node);
  }
  [[nodiscard]] GASMETER_INLINE bool owns(NodeId node) const { return index(node) - first_node_ < owned_nodes_; }

  // --- called by what runs in it, or between runs. Throws UsageError for an instant behind kLastInstant.
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
  // Express, over a link; its latency is no less than the lookahead. Throws as post() does.
  GASMETER_INLINE void send(NodeId to, SimTime at, Action* what, Express express) {
    const std::int64_t behind = at.ps - window_end_;
    if (GASMETER_LIKELY(behind < length_ && owns(to))) {
      queue_.post_next(Posted::at(to, behind), what, express.word());
    } else {
      put_elsewhere(to, at, what, express.word());
    }
  }

  // --- for Wiring::Carry, of the node that runs
  // When the window that is open begins.
  [[nodiscard]] SimTime open_begin() const { return {window_end_ - length_}; }
  // The next entry, which is express: happens now. Who takes some says when the latest was.
  [[nodiscard]] GASMETER_INLINE const Posted& take_express(SimTime begin) {
    const Posted& entry = *cursor_++;
    now = begin + SimTime{entry.offset()};
    ++counters_.events;
    return entry;
  }
  // Whether another one is next for certain, before `until`; at an instant of something else it is not asked for.
  [[nodiscard]] GASMETER_INLINE bool express_is_next(SimTime begin, SimTime until) const {
    if (cursor_ == cursor_end_ || !cursor_->is_express()) return false;
    const std::int64_t at = begin.ps + cursor_->offset();
    return at < until.ps && (pending_.empty() || at < pending_.front().at);
  }
  // An entry that comes soon, or that one, which has just been taken.
  [[nodiscard]] GASMETER_INLINE const Posted& soon(const Posted& taken) const {
    return cursor_ < fetch_end_ ? cursor_[kAhead] : taken;
  }
  // What happens now is void: it was posted for an instant that another posting has taken over.
  void uncount() { --counters_.events; }
  // A buffer for the beginning of a link, which another partition holds.
  void send_credit(NodeId to, std::uint32_t link, std::uint32_t channel, SimTime at);
  void post_turn(RankContext& rank, SimTime at);
  // A rank whose clock is before this need not give way to anything.
  [[nodiscard]] GASMETER_INLINE bool free_to_go_on(const RankContext& rank) const {
    return rank.clock.ps < limit_ && current == &rank;
  }
  // Whether something on its node comes before the rank's clock; after the end of the window everything may.
  [[nodiscard]] bool must_give_way(const RankContext& rank) const;
  // What comes before the rank's clock happens on the rank's own stack, which saves two switches, unless another rank
  // has a turn there, the window ends or something fails.
  enum class Caught : std::uint8_t { up, not_yet, never };
  [[nodiscard]] Caught catch_up(RankContext& rank);
  // Looks at the stop token and lets the rank go on.
  void go_on(const RankContext& rank);
  [[nodiscard]] bool stop_requested() const;
  [[nodiscard]] bool unwinding() const { return exceptions().uncaught > outer_.uncaught; }
  // Whether who runs now is inside of a catch block that it has entered on its own stack.
  [[nodiscard]] bool in_catch_block() const { return exceptions().caught != outer_.caught; }

  // For the rank that runs: leaves its fibre, calls step(argument) on the main stack and comes back.
  void on_main_stack(RankContext& rank, MainStep step, void* argument) {
    step_ = step;
    step_argument_ = argument;
    rank.fibre->suspend();
  }

  // The engine's view of what runs here.
  Engine* const engine;
  SimTime now;                     // the instant that happens now
  Tie now_tie = 0;                 // of what happens now, unless it came express
  SimTime latest;                  // the last one at which something has happened
  RankContext* current = nullptr;  // whose fibre runs
  unsigned live = 0;               // bodies that have neither returned nor parked

  // --- called by the engine's loop
  // This thread runs the partition from now on; its ranks, too, unless each has a thread of its own.
  void enter_thread(FibreMaker fibres) {
    const bool shared = fibres != FibreMaker::thread;
    const void* const globals = Exceptions::globals();
    outer_ = shared ? Exceptions::at(globals) : Exceptions{};
    exceptions_ = shared ? globals : nullptr;
  }
  void leave_thread() { exceptions_ = nullptr; }
  // The earliest window of this partition and of what it has posted to others.
  [[nodiscard]] Window next_window();
  // A window in which nothing happens here may be left out. It stays open where nodes are held back: a block may end in
  // it as soon as no body of theirs is live, and what they do behind its end is to wait for the next block.
  void run_window(Window window);
  [[nodiscard]] bool holds_back() const { return !held_.empty(); }
  // Lets those go on until then; what is left comes again.
  void go_on_until(SimTime until);
  [[nodiscard]] SimTime window_end() const { return {window_end_}; }
  // Of the last window that was opened: nothing that is still to happen here comes before that.
  [[nodiscard]] SimTime window_begin() const { return {window_ * length_}; }
  // When a block ends whose last body is the last one here to have returned or parked.
  [[nodiscard]] SimTime block_end() const { return block_end_; }
  // A body that runs here, or has come to its end.
  void begin_body(const RankContext& rank) {
    ++live;
    if (nodes_[index(rank.node)].live++ == 0) ++live_nodes_;
  }
  void end_body(const RankContext& rank);
  // Keeps the exception that is being handled as a failure of what runs here.
  void fail();
  // The single node, until every body is parked or has returned or the stop token says so. False: nothing is left.
  bool run_alone();
  // After a window: takes over what `other` posted for this one in windows of that parity.
  void receive_from(Partition& other, unsigned parity);
  [[nodiscard]] unsigned parity() const { return parity_; }
  void turn_parity();

  // --- between windows, for who takes what is posted out of them (FastForward)
  // Something that is posted, by itself.
  struct Loose {
    SimTime at;
    Tie tie = 0;
    Posted entry;
  };
  using Sift = WindowQueue::Sift;
  // Nothing is posted here for before that.
  [[nodiscard]] SimTime posted_from() {
    const Window window = queue_.next();
    return window == WindowQueue::kNone ? kNever : SimTime{window * length_};
  }
  // Shows each(loose) all that is posted here, which says what becomes of it.
  template <class Each>
  void sift(Each&& each) {
    queue_.sift([&](Window window, const Posted& entry) {
      return each(Loose{{window * length_ + entry.offset()}, tie_of(entry), entry});
    });
  }
  // What is posted from now on goes there; null: to windows again.
  void gather(std::vector<Loose>* loose) { gathered_ = loose; }
  void put(const Loose& loose) {
    if (GASMETER_UNLIKELY(loose.at > kLastInstant)) (void)checked_end(loose.at);
    const Window window = loose.at.ps / length_;
    queue_.post(window, {Posted::at(NodeId{loose.entry.node()}, loose.at.ps - window * length_), loose.entry.action,
                         loose.entry.express});
  }
  void happen(const Loose& loose);

  [[nodiscard]] const EngineCounters& counters() const { return counters_; }
  // The first failure of the last window, in virtual time; null if there is none.
  struct Failure {
    std::exception_ptr what;
    SimTime at = kNever;
    NodeId node{};
  };
  [[nodiscard]] const Failure& failure() const { return failure_; }
  // Whether `next` is to be run behind `last`: a body is live, or the block whose last one was ends behind that window.
  [[nodiscard]] bool goes_on(unsigned bodies, SimTime end, Window last, Window next) const {
    return bodies != 0 || ((last + 1) * length_ < end.ps && next * length_ < end.ps);
  }

 private:
  // Of entries of a window.
  struct Earlier {
    const Partition* here;
    bool operator()(const Posted& a, const Posted& b) const {
      return a.place != b.place ? a.place < b.place : here->is_before(a, b);
    }
  };
  [[nodiscard]] Tie tie_of(const Posted& entry) const {
    return entry.is_express() ? express_tie(wiring_->origin(entry)) : entry.action->tie;
  }
  [[nodiscard]] bool is_before(const Posted& a, const Posted& b) const;
  [[nodiscard]] std::int64_t time_of(const Posted& entry) const { return window_end_ - length_ + entry.offset(); }
  // Of the node that runs.
  [[nodiscard]] GASMETER_INLINE bool is_before(const Posted& entry, const Pending& pending) const {
    const std::int64_t at = time_of(entry);
    return at != pending.at ? at < pending.at : tie_of(entry) < pending.tie;
  }
  // Of what the node that runs has to do: whether an entry of the window is next, not one that is pending.
  [[nodiscard]] GASMETER_INLINE bool entry_is_next() const {
    return cursor_ != cursor_end_ && (pending_.empty() || is_before(*cursor_, pending_.front()));
  }

  static constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kClosed = -(std::int64_t{1} << 32);  // as the end of a window: earlier than any

  // A call to find them costs as much as an event: whoever runs the partition has looked where they are.
  [[nodiscard]] GASMETER_INLINE Exceptions exceptions() const {
    return Exceptions::at(GASMETER_LIKELY(exceptions_ != nullptr) ? exceptions_ : Exceptions::globals());
  }
  static constexpr std::size_t kAhead = 4;  // entries whose memory is fetched before their turn
  // Throws UsageError for an instant behind the end of virtual time. What destructors of cancelled bodies post is moved
  // there instead.
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
  Exceptions outer_{};                // of who runs this partition
  const void* exceptions_ = nullptr;  // where they are; null: each rank has a thread, or nobody runs
  MainStep step_ = nullptr;           // asked for by the rank that runs
  void* step_argument_ = nullptr;
  std::int64_t window_end_ = kClosed;
  std::int64_t length_ = 0;  // of windows; 0: none yet
  Window window_ = 0;
  unsigned block_shift_ = 0;
  std::int64_t held_from_ = kNever.ps;  // the node that runs is not to go on from there
  NodeId node_{};                       // the one that runs
  bool alone_;                          // with one node
  std::uint32_t first_node_ = 0;        // that it owns
  std::uint32_t owned_nodes_ = 0;
  const Posted* cursor_ = nullptr;  // of the node that runs: what is left of its part of the window
  const Posted* cursor_end_ = nullptr;
  const Posted* fetch_end_ = nullptr;  // of the window: behind it are too few to fetch one ahead
  PendingEvents pending_;              // of the node that runs, posted inside the window
  SimTime lookahead_ = kNever;
  unsigned number_;
  std::vector<Node>& nodes_;
  const StopToken& stop_;
  WindowQueue queue_;
  PostedList few_;  // entries of the open window, where they stay in their chunk
  PostedRow row_;   // where they do not
  std::vector<std::uint32_t> buckets_;
  // A node that has not run to the end of the window.
  struct Held {
    NodeId node;
    const Posted* first;
    const Posted* last;
    std::vector<Pending> pending;
  };
  std::vector<Held> held_;
  std::size_t live_nodes_ = 0;  // on which a body is live
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
  // To each other partition, of even and of odd windows: written in one, read after its end, while the next is written.
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

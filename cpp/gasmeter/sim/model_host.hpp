// The host of a rank in virtual time: does the work and charges the machine's price for it.
#pragma once

#include <algorithm>
#include <cstring>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/rows.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/step.hpp"

namespace gasmeter::sim {

// A value; the engine outlives it. On the main stack prices are charged but nobody waits, so that ranks can be set up
// before they run.
class ModelHost {
 public:
  static constexpr bool kModelled = true;
  static constexpr bool kThreads = false;
  static constexpr bool kStamped = false;

  explicit ModelHost(RankContext& rank) : rank_(&rank) {}

  [[nodiscard]] Rank rank() const { return rank_->rank; }
  [[nodiscard]] NodeId node() const { return rank_->node; }
  [[nodiscard]] Engine& engine() const { return *rank_->partition->engine; }

  [[nodiscard]] SimTime now() const { return rank_->clock; }
  // Until when what happens on its node has happened; from there to now() the rank has run ahead.
  [[nodiscard]] SimTime seen_until() const { return rank_->partition->now; }
  [[nodiscard]] SimTime idled() const { return rank_->idled; }  // of that, what idle() has taken

  // The bytes move at the start of the copy; into memory that others see only after synchronise().
  GASMETER_INLINE void copy(void* to, const void* from, Bytes bytes) { copy_at(rank_->prices->copy, to, from, bytes); }
  // Of one piece of a transfer of many, which costs less than a copy that is called for, where the machine says so.
  GASMETER_INLINE void copy_piece(void* to, const void* from, Bytes bytes) {
    const conduit::HostPrices& prices = *rank_->prices;
    const conduit::Price& piece = prices[conduit::PrivatePrice::piece_copy];
    if (bytes <= kElementCopy) rank_->charges.add(conduit::PrivatePrice::piece_copy);
    copy_at(bytes <= kElementCopy && piece.fixed.ps != 0 ? piece : prices.copy, to, from, bytes);
  }
  // A program makes so many bytes itself and stores them; here they are those at `from`.
  void generate(void* to, const void* from, Bytes bytes) {
    if ((*rank_->prices)[conduit::PrivatePrice::generate].is_none()) return copy(to, from, bytes);
    if (bytes != 0) std::memcpy(to, from, bytes);
    charge(conduit::PrivatePrice::generate, bytes);
  }
  GASMETER_INLINE void charge(conduit::PrivatePrice price, Bytes bytes = 0) {
    const conduit::Price& paid = (*rank_->prices)[price];
    rank_->charges.add(price, price == conduit::PrivatePrice::update && bytes != 0 && bytes <= paid.cache);
    if (GASMETER_UNLIKELY(rank_->careful)) {
      move_carefully(step_of(price), paid.of(bytes));
      return;
    }
    rank_->clock += paid.of(bytes);
  }
  // What a price comes to, of a rank that pays it by work(), before its node's pace.
  [[nodiscard]] SimTime owed(conduit::PrivatePrice price, Bytes amount) {
    rank_->charges.add(price);
    return prices()[price].of(amount);
  }
  // How long the rank's core takes for so much software: longer on a slow node.
  [[nodiscard]] SimTime paced(SimTime time) const { return engine().paced(rank_->node, time); }
  // A price that is a network's own, of what the rank's own core does for it; a trace calls it `step`. Only moves the
  // clock.
  GASMETER_INLINE void spend(SimTime time, Step step = Step::driver) {
    if (GASMETER_UNLIKELY(rank_->careful)) {
      spend_carefully(step, time);
      return;
    }
    rank_->clock += time;
  }
  // The rank does nothing for so long, on whichever node. Only moves the clock.
  void pass(SimTime time) {
    if (GASMETER_UNLIKELY(rank_->careful)) {
      move_carefully(Step::driver, time);
      return;
    }
    rank_->clock += time;
  }
  GASMETER_INLINE void charge_shared(conduit::SharedPrice price, Bytes bytes = 0) {
    charge_shared(price, bytes, step_of(price));
  }
  // Likewise, where a trace calls it something else.
  GASMETER_INLINE void charge_shared(conduit::SharedPrice price, Bytes bytes, Step step) {
    rank_->charges.add(price);
    if (GASMETER_UNLIKELY(rank_->careful)) {
      move_carefully(step, (*rank_->prices)[price].of(bytes));
      return;
    }
    synchronise();
    rank_->clock += (*rank_->prices)[price].of(bytes);
  }
  // A shared price where the rank touches nothing that others may see or change meanwhile: does not synchronise.
  GASMETER_INLINE void pay(conduit::SharedPrice price, Bytes bytes = 0) {
    rank_->charges.add(price);
    if (GASMETER_UNLIKELY(rank_->careful)) {
      move_carefully(step_of(price), (*rank_->prices)[price].of(bytes));
      return;
    }
    rank_->clock += (*rank_->prices)[price].of(bytes);
  }
  // Engine::act() for this rank.
  GASMETER_INLINE void act(Action& action) { engine().act(*rank_, action); }
  // Whether it may act on what it knows without being synchronised. Strict and traced ranks look first, and so does one
  // whose clock what is taken from it may still put off.
  [[nodiscard]] bool runs_ahead() const { return !rank_->careful && !rank_->loses_time; }
  // For traces; moves no clock.
  GASMETER_INLINE void mark(Mark which) {
    if (GASMETER_UNLIKELY(rank_->careful)) mark_carefully(which);
  }
  GASMETER_INLINE void synchronise() { engine().synchronise(*rank_); }

  // Synchronises, then ends the other's idle() at this rank's clock; not lost if the other has looked already but does
  // not sleep yet.
  void notify(Rank rank) { engine().notify(*rank_, rank); }
  // Sleeps to the next wake or to the deadline; the clock then stands after a whole number of missed polls since the
  // call. May return early once for a wake that came before the call.
  void idle(SimTime deadline) { (void)engine().idle(*rank_, deadline); }
  // The same, of a rank that says what it looks at when it is woken: a card that writes other memory need not wake it.
  // True: it has left out a poll that would have found something.
  bool idle(SimTime deadline, const Looks& looks) { return engine().idle(*rank_, deadline, looks); }
  // In front of idle(), of a rank that runs ahead and knows of nothing that a poll could find: the poll at its clock is
  // left out. What that would have found ends the wait at the clock and leaves the wake that the poll would have left;
  // the rank polls before it does anything else.
  GASMETER_INLINE void leave_poll_out() { rank_->left_out = true; }

  // The clock for a figure: what has been taken from the rank until now counts. Of most ranks nothing can be taken.
  [[nodiscard]] GASMETER_INLINE SimTime read_clock() {
    if (GASMETER_UNLIKELY(rank_->loses_time)) synchronise();
    return rank_->clock;
  }

  // Stops the core until a device calls Engine::resume(): no poll, no handler, no wake ends it.
  void stall() { engine().stall(*rank_); }
  // The core works so long of its own, and so much longer as interrupts take. `cut`: what the network brings ends it
  // early. Returns what is left of the work.
  [[nodiscard]] SimTime work(SimTime amount, bool cut) { return engine().work(*rank_, amount, cut); }
  // A poll that finds nothing costs so much beside poll_miss: other queues, flags of other ranks. From the rank's own
  // fibre, or before the first run().
  void price_polls(SimTime price) { engine().price_polls(*rank_, price); }
  // From now on a poll that finds nothing costs so much in place of the host's poll_miss: this rank's library asks its
  // network in a way of its own. From the rank's own fibre, or before the first run().
  void price_misses(SimTime price) { engine().price_misses(*rank_, price); }
  // The machine's, from which a network makes its own: a slow node's pace comes with paying them.
  [[nodiscard]] const conduit::HostPrices& prices() const { return engine().prices(); }
  // For one poll that has found nothing.
  GASMETER_INLINE void pay_poll_price() {
    if (GASMETER_LIKELY(!rank_->loses_time)) return;
    if (GASMETER_UNLIKELY(rank_->careful)) {
      move_carefully(Step::scan, engine().poll_price(*rank_));
      return;
    }
    rank_->clock += engine().poll_price(*rank_);
  }

  // Engine::on_main_stack() for this rank.
  void on_main_stack(MainStep step, void* argument) { engine().on_main_stack(rank_->rank, step, argument); }

  // For the table of a deadlock: a literal or null.
  void describe_wait(const char* what) { engine().describe_wait(rank_->rank, what); }

 private:
  GASMETER_INLINE void copy_at(const conduit::Price& price, void* to, const void* from, Bytes bytes) {
    if (GASMETER_UNLIKELY(rank_->careful)) {
      copy_carefully(price, to, from, bytes);
      return;
    }
    if (bytes != 0) std::memcpy(to, from, bytes);
    pay_copy(price, bytes);
  }
  GASMETER_INLINE void pay_copy(const conduit::Price& price, Bytes bytes) {
    rank_->charges.add_copy();
    rank_->clock += price.of(bytes);
    if (GASMETER_UNLIKELY(bytes >= rank_->prices->memory_from)) wait_for_memory(price, bytes);
  }
  // Ranks of a node that copy at once share its memory's bandwidth.
  void wait_for_memory(const conduit::Price& price, Bytes bytes) {
    rank_->charges.add_memory();
    if (rank_->prices->memory_per_byte_fs == 0) return;
    rank_->clock = rank_->clock - price.of(bytes);
    synchronise();  // what was taken from the rank before the copy puts it off
    const SimTime start = rank_->clock;
    rank_->clock = std::max(start + price.of(bytes), engine().use_memory(rank_->node, start, bytes));
  }
  // Of a rank that is strict or traced: synchronises before the price (a shared one always does, so that it is early
  // enough for either), and tells the tracer.
  void copy_carefully(const conduit::Price& price, void* to, const void* from, Bytes bytes);
  void move_carefully(Step step, SimTime time);
  void spend_carefully(Step step, SimTime time);
  void mark_carefully(Mark which);

  RankContext* rank_;
};

static_assert(conduit::Host<ModelHost>);

}  // namespace gasmeter::sim

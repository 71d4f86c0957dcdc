// The host of a rank in virtual time: it does the work and charges the machine's price for it.
#pragma once

#include <algorithm>
#include <cstring>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/rows.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/trace/step.hpp"

namespace gasmeter::sim {

// A value type; the engine outlives it. On the main stack prices are charged but nobody waits, so that ranks can be set
// up before they run.
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
  // Return until when everything on the node has happened; from there to now() the rank has run ahead.
  [[nodiscard]] SimTime seen_until() const { return rank_->partition->now; }
  [[nodiscard]] SimTime idled() const { return rank_->idled; }  // time in idle() so far

  // Copy `bytes` at the start of the copy's time; others see memory only after synchronise().
  GASMETER_INLINE void copy(void* to, const void* from, Bytes bytes) { copy_at(rank_->prices->copy, to, from, bytes); }
  // Copy one piece of a transfer of many, which costs less than a separate copy, where the machine says so.
  GASMETER_INLINE void copy_piece(void* to, const void* from, Bytes bytes) {
    const conduit::HostPrices& prices = *rank_->prices;
    const conduit::Price& piece = prices[conduit::PrivatePrice::piece_copy];
    if (bytes <= kElementCopy) rank_->charges.add(conduit::PrivatePrice::piece_copy);
    copy_at(bytes <= kElementCopy && piece.fixed.ps != 0 ? piece : prices.copy, to, from, bytes);
  }
  // Charge for `bytes` that a program makes itself and stores; here they are copied from `from`.
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
  // Return what a price comes to, before the node's pace, for a rank that pays it by work().
  [[nodiscard]] SimTime owed(conduit::PrivatePrice price, Bytes amount) {
    rank_->charges.add(price);
    return prices()[price].of(amount);
  }
  // Return how long the rank's core takes for software of this length: longer on a slow node.
  [[nodiscard]] SimTime paced(SimTime time) const { return engine().paced(rank_->node, time); }
  // Spend time at a network's own price, for what the rank's own core does for the network; a trace calls it `step`.
  // Only moves the clock.
  GASMETER_INLINE void spend(SimTime time, Step step = Step::driver) {
    if (GASMETER_UNLIKELY(rank_->careful)) {
      spend_carefully(step, time);
      return;
    }
    rank_->clock += time;
  }
  // Let the rank do nothing for this time, whatever the pace of its node. Only moves the clock.
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
  // Charge a shared price that a trace calls `step`.
  GASMETER_INLINE void charge_shared(conduit::SharedPrice price, Bytes bytes, Step step) {
    rank_->charges.add(price);
    if (GASMETER_UNLIKELY(rank_->careful)) {
      move_carefully(step, (*rank_->prices)[price].of(bytes));
      return;
    }
    synchronise();
    rank_->clock += (*rank_->prices)[price].of(bytes);
  }
  // Pay a shared price where the rank touches nothing that others may see or change meanwhile: does not synchronise.
  GASMETER_INLINE void pay(conduit::SharedPrice price, Bytes bytes = 0) {
    rank_->charges.add(price);
    if (GASMETER_UNLIKELY(rank_->careful)) {
      move_carefully(step_of(price), (*rank_->prices)[price].of(bytes));
      return;
    }
    rank_->clock += (*rank_->prices)[price].of(bytes);
  }
  // Call Engine::act() for this rank.
  GASMETER_INLINE void act(Action& action) { engine().act(*rank_, action); }
  // Tell whether the rank may act on what it knows without being synchronised. Ranks that are strict, traced or on a
  // slow node look first, and so does a rank whose clock an interrupt or stall may still put off.
  [[nodiscard]] bool runs_ahead() const { return !rank_->careful && !rank_->loses_time; }
  // Mark an instant for traces; moves no clock.
  GASMETER_INLINE void mark(Mark which) {
    if (GASMETER_UNLIKELY(rank_->careful)) mark_carefully(which);
  }
  GASMETER_INLINE void synchronise() { engine().synchronise(*rank_); }

  // Synchronise, then end the other rank's idle() at this rank's clock. The wake is not lost if the other rank has
  // looked already but does not sleep yet.
  void notify(Rank rank) { engine().notify(*rank_, rank); }
  // Sleep to the next wake or to the deadline; the clock then stands after a whole number of missed polls since the
  // call. May return early once for a wake that came before the call.
  void idle(SimTime deadline) { (void)engine().idle(*rank_, deadline); }
  // The same for a rank that says what it looks at when it is woken: a card that writes other memory need not wake it.
  // True: the rank has left out a poll that would have found something.
  bool idle(SimTime deadline, const Looks& looks) { return engine().idle(*rank_, deadline, looks); }
  // Leave out the poll at the clock. Called in front of idle(), by a rank that runs ahead and knows of nothing that a
  // poll could find. If the poll would have found something, idle() ends at the clock and returns true, and the next
  // idle() returns at once, too. The rank then polls before it does anything else.
  GASMETER_INLINE void leave_poll_out() { rank_->left_out = true; }

  // Read the clock for a figure: all time that has been taken from the rank until now counts. From most ranks nothing
  // can be taken.
  [[nodiscard]] GASMETER_INLINE SimTime read_clock() {
    if (GASMETER_UNLIKELY(rank_->loses_time)) synchronise();
    return rank_->clock;
  }

  // Stop the core until a device calls Engine::resume(): no poll, no handler, no wake ends the stall.
  void stall() { engine().stall(*rank_); }
  // Work for `amount` on the core, and so much longer as interrupts take. `cut`: a message ends the work early. Returns
  // what is left of the work.
  [[nodiscard]] SimTime work(SimTime amount, bool cut) { return engine().work(*rank_, amount, cut); }
  // Charge each poll that finds nothing `price` beside poll_miss, for other queues or flags of other ranks. Called on
  // the rank's own fibre, or before the first run().
  void price_polls(SimTime price) { engine().price_polls(*rank_, price); }
  // Charge each poll that finds nothing `price` in place of the host's poll_miss from now on: this rank's library asks
  // its network in a way of its own. Called on the rank's own fibre, or before the first run().
  void price_misses(SimTime price) { engine().price_misses(*rank_, price); }
  // Prices of the machine, from which a network makes its own; a slow node's pace comes with paying them.
  [[nodiscard]] const conduit::HostPrices& prices() const { return engine().prices(); }
  // Pay for one poll that has found nothing.
  GASMETER_INLINE void pay_poll_price() {
    if (GASMETER_LIKELY(!rank_->loses_time)) return;
    if (GASMETER_UNLIKELY(rank_->careful)) {
      move_carefully(Step::scan, engine().poll_price(*rank_));
      return;
    }
    rank_->clock += engine().poll_price(*rank_);
  }

  // Call Engine::on_main_stack() for this rank.
  void on_main_stack(MainStep step, void* argument) { engine().on_main_stack(rank_->rank, step, argument); }

  // Set the text for the table of a deadlock: a literal or null.
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
  // Wait for the node's memory, whose bandwidth ranks share that copy at once.
  void wait_for_memory(const conduit::Price& price, Bytes bytes) {
    rank_->charges.add_memory();
    if (rank_->prices->memory_per_byte_fs == 0) return;
    rank_->clock = rank_->clock - price.of(bytes);
    synchronise();  // time taken from the rank before the copy puts the copy off
    const SimTime start = rank_->clock;
    rank_->clock = std::max(start + price.of(bytes), engine().use_memory(rank_->node, start, bytes));
  }
  // Take the slow path of a rank that is strict, traced or on a slow node: synchronise before the price (a shared price
  // always does, which is early enough for all three), and tell the tracer.
  void copy_carefully(const conduit::Price& price, void* to, const void* from, Bytes bytes);
  void move_carefully(Step step, SimTime time);
  void spend_carefully(Step step, SimTime time);
  void mark_carefully(Mark which);

  RankContext* rank_;
};

static_assert(conduit::Host<ModelHost>);

}  // namespace gasmeter::sim

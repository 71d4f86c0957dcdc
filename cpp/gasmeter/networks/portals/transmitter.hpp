// What leaves a card: messages one after the other, at the rate of its way to host memory.
#pragma once

#include <cstddef>
#include <deque>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/portals/event.hpp"
#include "gasmeter/networks/portals/packet.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/intrusive_queue.hpp"

namespace gasmeter::networks::portals {

class SeaStar;

class Transmitter {
 public:
  explicit Transmitter(SeaStar& card) : card_(card) {}
  Transmitter(const Transmitter&) = delete;
  Transmitter& operator=(const Transmitter&) = delete;

  // A command of the host: the payload is at `from`, and the header's part of it is taken at once. It waits for a DMA
  // slot, then for the firmware. `owner` is told `end` when all has left, if `md` is one of its own: that is in use
  // until then. False: it waits for a slot.
  bool command(HeaderPacket& header, const std::byte* from, Bytes bytes, Rank owner, MdHandle md, const Event& end,
               SimTime now);
  // What the firmware makes by itself: a header without payload that takes no slot and of which nobody is told.
  void answer(HeaderPacket& header, SimTime now);

  // It has begun to leave; its last byte has left at `end`.
  void departed(SimTime end);

 private:
  // A message that is to leave.
  struct Outgoing : sim::Action {
    Outgoing() : sim::Action(nullptr) {}
    Transmitter* of = nullptr;
    HeaderPacket* header = nullptr;  // its target's, once it has left
    std::uint32_t to = 0;            // node
    const std::byte* from = nullptr;
    Bytes bytes = 0;
    Bytes left = 0;  // bytes that have
    Rank owner{};
    MdHandle md;
    Event event;    // of its end
    SimTime ready;  // when its first byte has come from host memory
    bool is_command = false;
  };

  static void on_ready(sim::Action& self, SimTime now);
  static void on_header(sim::Action& self, SimTime now);
  static void on_data(sim::Action& self, SimTime now);
  static void on_end(sim::Action& self, SimTime now);

  [[nodiscard]] Outgoing& make(HeaderPacket& header);
  void prepare(Outgoing& message, SimTime now);
  void begin_next(SimTime now);
  // What follows takes the way to host memory from `start` on, and leaves so that its last byte does not wait.
  void leave(SimTime start, Bytes on_nic, Bytes on_wire, sim::Action::Run run);
  void post(Outgoing& message, sim::Action::Run run, SimTime at);

  SeaStar& card_;
  std::deque<Outgoing> messages_;
  sim::IntrusiveQueue<Outgoing> free_;
  sim::IntrusiveQueue<Outgoing> waiting_;  // for a slot
  sim::IntrusiveQueue<Outgoing> ready_;
  Outgoing* leaving_ = nullptr;
  SimTime end_;         // of what leaves, as far as it has begun
  unsigned slots_ = 0;  // that are taken
};

}  // namespace gasmeter::networks::portals

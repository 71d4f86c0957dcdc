// Messages that leave a card, one after the other, at the rate of its path to host memory.
#pragma once

#include <cstddef>
#include <deque>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/portals/event.hpp"
#include "gasmeter/networks/portals/packet.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/fabric/intrusive_queue.hpp"

namespace gasmeter::networks::portals {

class SeaStar;

class Transmitter {
 public:
  explicit Transmitter(SeaStar& card) : card_(card) {}
  Transmitter(const Transmitter&) = delete;
  Transmitter& operator=(const Transmitter&) = delete;

  // Take a command of the host. The payload is at `from`, and the header's part is read at once. The command waits for
  // a DMA slot, then for the firmware. If `owner` has a descriptor `md`, it gets the event `end` when all has left, and
  // `md` is in use until then. Return false if the command waits for a slot.
  bool command(HeaderPacket& header, const std::byte* from, Bytes bytes, Rank owner, MdHandle md, const Event& end,
               SimTime now);
  // Send an answer of the firmware: a header without payload. The answer takes no slot and has no event.
  void answer(HeaderPacket& header, SimTime now);

  // The packet has begun to leave. Its last byte leaves at `end`.
  void departed(SimTime end);

 private:
  // A message that is to leave.
  struct Outgoing : sim::Action {
    Outgoing() : sim::Action(nullptr) {}
    Transmitter* of = nullptr;
    HeaderPacket* header = nullptr;  // belongs to the target once it has left
    std::uint32_t to = 0;            // node
    const std::byte* from = nullptr;
    Bytes bytes = 0;
    Bytes left = 0;  // bytes that have left
    Rank owner{};
    MdHandle md;
    Event event;    // event of its end
    SimTime ready;  // when its first byte has arrived from host memory
    bool is_command = false;
  };

  static void on_ready(sim::Action& self, SimTime now);
  static void on_header(sim::Action& self, SimTime now);
  static void on_data(sim::Action& self, SimTime now);
  static void on_end(sim::Action& self, SimTime now);

  [[nodiscard]] Outgoing& make(HeaderPacket& header);
  void prepare(Outgoing& message, SimTime now);
  void begin_next(SimTime now);
  // The next packet takes the path to host memory from `start` on. The packet leaves so that its last byte does not
  // wait.
  void leave(SimTime start, Bytes on_nic, Bytes on_wire, sim::Action::Run run);
  void post(Outgoing& message, sim::Action::Run run, SimTime at);

  SeaStar& card_;
  std::deque<Outgoing> messages_;
  sim::IntrusiveQueue<Outgoing> free_;
  sim::IntrusiveQueue<Outgoing> waiting_;  // for a slot
  sim::IntrusiveQueue<Outgoing> ready_;
  Outgoing* leaving_ = nullptr;
  SimTime end_;         // of the leaving packet, as far as it has begun
  unsigned slots_ = 0;  // slots that are taken
};

}  // namespace gasmeter::networks::portals

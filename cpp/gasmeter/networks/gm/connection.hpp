// What one port sends another at one priority, and takes from it, as the cards' firmware works it off: reliable, in
// order.
//
// Sends leave in the order in which software asked for them, packet by packet, and are kept until the other end
// acknowledges them. A message for which no receive is provided is refused there: its sender holds it and all that
// followed it, and sends them again after a while. The other end takes packets in order alone, so that each send is
// carried out once.
//
// What asks for a get stands in line with the sends. The other end's firmware answers it by itself with packets of
// data, which leave by turns with its own sends and wait for none of them.
//
// Ports have as many connections as there are ports, and hardly any has something under way: what it knows until then
// is its Standing, of a quarter of a line, and a Connection is lent by its card as long as there is more to know.
#pragma once

#include <array>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/gm/event.hpp"
#include "gasmeter/networks/gm/packet.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/intrusive_queue.hpp"

namespace gasmeter::networks::gm {

class GmPort;
class Lanai;

class Connection;

// Of what has been under way at a connection; messages are counted in 31 bits.
struct Standing {
  std::uint32_t posted : 31 = 0;        // sends and gets, ever
  std::uint32_t answered_last : 1 = 0;  // the packet that was begun last is one of a get's data
  std::uint32_t expected : 31 = 0;      // message of the other end's that is next
  Connection* connection = nullptr;     // something is
};

class Connection {
 public:
  explicit Connection(Lanai& card);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Nothing is under way. Of what `owner` sends `peer`.
  void open(GmPort& owner, Rank peer, Priority priority, Standing& standing);

  // ---- software's side; the rank is synchronised
  // Of a send that the port has the token's number of.
  void post(std::uint32_t token, SimTime now);

  // ---- the card's side
  // A packet of data is there as a whole, and this end's from now on.
  void arrived(GmPacket& packet, SimTime now);
  // An answer to this end comes; its last byte does at `tail`.
  void answered(GmPacket& packet, SimTime tail);
  // What it brings is in host memory; of an answer, what it says is known.
  void delivered(const GmPacket& packet, SimTime now);
  // It has begun to leave; its last byte does at `end`.
  void departed(SimTime end);

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  static constexpr unsigned kAhead = 4;  // packets begun whose last byte has not left the card

  // Packets leave again: at a place that falls free, or when what was held has been so for long enough.
  struct Timer : sim::Action {
    Timer(Connection& of, void (*on_due)(sim::Action&, SimTime)) : sim::Action(on_due), connection(of) {}
    Connection& connection;
  };
  static void on_place(sim::Action& self, SimTime now);
  static void on_held(sim::Action& self, SimTime now);

  GmPacket& make_packet(PacketKind kind, std::uint32_t message);
  [[nodiscard]] bool has_sends() const { return next_ != kNone && !holds_; }
  [[nodiscard]] bool has_packets() const { return has_sends() || !asked_.empty(); }
  [[nodiscard]] GmPacket& next_of_sends();
  [[nodiscard]] GmPacket& next_of_gets();
  // Packets that leave behind that.
  [[nodiscard]] unsigned leave_until(SimTime now);
  void begin(SimTime now);
  void answer(PacketKind kind, const GmPacket& to, SimTime now);
  void finish(std::uint32_t message, Event::Type type, SimTime now);
  void refused(std::uint32_t message, SimTime now);
  [[nodiscard]] bool take(GmPacket& packet, SimTime now);
  void close_if_idle(SimTime now);

  Lanai& card_;
  GmPort* owner_ = nullptr;
  Standing* standing_ = nullptr;
  Rank peer_{};
  Priority priority_{};

  // Tokens of sends and gets, each of which knows the next one.
  std::uint32_t first_ = kNone;  // neither acknowledged nor answered
  std::uint32_t next_ = kNone;   // to send
  std::uint32_t last_ = kNone;
  Bytes sent_ = 0;                         // of the next one
  sim::IntrusiveQueue<GmPacket> asked_;    // gets of the other end that this one answers; `before`: so far
  unsigned answered_ = 0;                  // likewise, whose data are not known to be there
  unsigned in_card_ = 0;                   // packets that have been begun and do not leave yet
  std::array<SimTime, kAhead> leaving_{};  // when those do that leave, the first one first
  unsigned leaving_count_ = 0;
  bool resumes_ = false;  // at a place that falls free
  bool holds_ = false;    // since the other end had no receive
  Timer place_;
  Timer held_;

  // What the other end sends.
  unsigned coming_ = 0;  // packets on their way to host memory
  Bytes received_ = 0;   // of the message that is expected
  Receive receive_;      // which it goes to
};

}  // namespace gasmeter::networks::gm

// A connection: the traffic from one port to another at one priority, and back, as the cards' firmware handles it:
// reliable and in order.
//
// Sends leave in the order of software's calls, packet by packet, and are kept until the peer acknowledges them. The
// peer refuses a message that finds no receive. The sender then holds that message and all later ones, and sends them
// again after a while. The peer takes packets in order only, so that each send is carried out once.
//
// A get's request waits in line with the sends. The peer's firmware answers it with packets of data. Packets of data
// take turns with the peer's own sends.
//
// A port has as many connections as there are ports, and hardly any has traffic in flight. An idle connection is only a
// Standing, a quarter of a cache line. The card lends a Connection while there is more state.
#pragma once

#include <array>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/gm/event.hpp"
#include "gasmeter/networks/gm/packet.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/fabric/intrusive_queue.hpp"

namespace gasmeter::networks::gm {

class GmPort;
class Lanai;

class Connection;

// State that outlives the traffic of a connection. Messages are counted in 31 bits.
struct Standing {
  std::uint32_t posted : 31 = 0;        // sends and gets in all
  std::uint32_t answered_last : 1 = 0;  // the last packet that was begun carries a get's data
  std::uint32_t expected : 31 = 0;      // number of the peer's next message
  Connection* connection = nullptr;     // null: the connection is idle
};

class Connection {
 public:
  explicit Connection(Lanai& card);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Begin to use an idle connection, from `owner` to `peer`.
  void open(GmPort& owner, Rank peer, Priority priority, Standing& standing);

  // ---- software's side; the caller has synchronised the rank with the simulation
  // Add the send or get of a token.
  void post(std::uint32_t token, SimTime now);

  // ---- the card's side
  // A packet of data is in the card. This connection owns it from now on.
  void arrived(GmPacket& packet, SimTime now);
  // An answer to this connection arrives. Its last byte arrives at `tail`.
  void answered(GmPacket& packet, SimTime tail);
  // The bytes of a packet are in host memory, or an answer has been handled.
  void delivered(const GmPacket& packet, SimTime now);
  // A packet has begun to leave. Its last byte leaves at `end`.
  void departed(SimTime end);

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  static constexpr unsigned kAhead = 4;  // packets begun whose last byte has not left the card

  // Timers after which packets leave again: one of the kAhead places that this connection has in the card is free, or a
  // message that the peer could not receive was held long enough.
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
  // Forget the packets whose last byte has left the card by `now`. Return how many are still leaving.
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

  // Tokens of sends and gets. Each token names the next one.
  std::uint32_t first_ = kNone;  // the first that is not acknowledged or answered
  std::uint32_t next_ = kNone;   // the next to send
  std::uint32_t last_ = kNone;
  Bytes sent_ = 0;                       // of the next one
  sim::IntrusiveQueue<GmPacket> asked_;  // gets of the peer that this side answers; GmPacket::before: bytes answered
  unsigned answered_ = 0;  // gets whose data this side has sent or sends, and which the peer has not confirmed
  unsigned in_card_ = 0;   // packets that are begun and do not leave yet
  std::array<SimTime, kAhead> leaving_{};  // times when leaving packets have left, the earliest first
  unsigned leaving_count_ = 0;
  bool resumes_ = false;  // packets leave again when one of the kAhead places is free
  bool holds_ = false;    // the peer has no receive
  Timer place_;
  Timer held_;

  // Traffic from the peer.
  unsigned coming_ = 0;  // packets on their way to host memory
  Bytes received_ = 0;   // of the expected message
  Receive receive_;      // receive of the expected message
};

}  // namespace gasmeter::networks::gm

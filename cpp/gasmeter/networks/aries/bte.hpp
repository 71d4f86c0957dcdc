// The engines of a card that move blocks by themselves (block transfer engine), and the queue of their descriptors.
#pragma once

#include <array>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/aries/packet.hpp"
#include "gasmeter/sim/action.hpp"

namespace gasmeter::networks::aries {

class AriesNic;
class Bte;

// An engine, which works on one descriptor at a time.
struct BteEngine : sim::Action {
  BteEngine() : sim::Action(nullptr) {}

  Bte* of = nullptr;
  RequestPacket* request = nullptr;  // null: the engine is idle
  Bytes before = 0;                  // bytes that have been sent, or asked for
  SimTime end;                       // when everything that it has begun is in the card
  // Counts of this descriptor and of earlier ones.
  unsigned leaving = 0;  // pieces whose last byte has not left the card
  Bytes asked = 0;       // bytes that were asked for and have not arrived
  bool waits_to_read = false;
  bool waits_to_ask = false;
};

class Bte {
 public:
  explicit Bte(AriesNic& nic);
  Bte(const Bte&) = delete;
  Bte& operator=(const Bte&) = delete;

  // Add a descriptor of software, behind all earlier ones.
  void add(RequestPacket& request, SimTime now);

  // ---- the card's side
  // A piece of the engine leaves the card. Its last byte leaves at `end`.
  void departed(BteEngine& engine, SimTime end);
  // `bytes` bytes of the engine's get have arrived.
  void answered(BteEngine& engine, Bytes bytes, SimTime now);

 private:
  // Estimates: they keep the link busy while an answer is on its way, 10 GB/s for 3 us.
  static constexpr unsigned kAhead = 4;
  static constexpr Bytes kAsked = 32768;

  static void on_started(sim::Action& self, SimTime now);
  static void on_piece(sim::Action& self, SimTime now);
  void begin(BteEngine& engine, RequestPacket& request, SimTime now);
  void read(BteEngine& engine, SimTime now);
  void ask(BteEngine& engine, SimTime now);
  void rest(BteEngine& engine, SimTime now);

  AriesNic& nic_;
  std::array<BteEngine, kMostEngines> engines_;
  sim::PacketQueue waiting_;
};

}  // namespace gasmeter::networks::aries

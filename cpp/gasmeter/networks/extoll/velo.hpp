// VELO, the engine for small messages: of one node, shared by its ranks.
#pragma once

#include "gasmeter/networks/extoll/outlet.hpp"
#include "gasmeter/networks/extoll/packet.hpp"
#include "gasmeter/networks/extoll/unit.hpp"

namespace gasmeter::networks::extoll {

class ExtollNic;

class Velo {
 public:
  explicit Velo(ExtollNic& nic);

  // A store burst has reached the card.
  void stored(VeloPacket& packet, SimTime now);
  // A packet or a drop notice, all of whose bytes are in the card at `here`.
  void arrived(VeloPacket& packet, SimTime here);
  void departed(SimTime end) { outlet_.departed(end); }

 private:
  void leave(VeloPacket& packet, SimTime now);
  void deliver(VeloPacket& packet, SimTime now);
  void return_notice(VeloPacket& packet, SimTime now);

  ExtollNic& nic_;
  FifoServer engine_;
  Pipeline<VeloPacket, Velo, &Velo::leave> sending_;
  Pipeline<VeloPacket, Velo, &Velo::deliver> receiving_;
  Outlet outlet_;
};

}  // namespace gasmeter::networks::extoll

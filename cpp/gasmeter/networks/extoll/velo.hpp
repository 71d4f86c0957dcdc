// VELO, the engine for small messages: of one node, shared by its ranks.
#pragma once

#include "gasmeter/networks/extoll/host_link.hpp"
#include "gasmeter/networks/extoll/outlet.hpp"
#include "gasmeter/networks/extoll/packet.hpp"
#include "gasmeter/networks/extoll/unit.hpp"

namespace gasmeter::networks::extoll {

class ExtollNic;
class ExtollPort;

class Velo {
 public:
  static constexpr Bytes kReadPointer = 8;  // a word of the card

  explicit Velo(ExtollNic& nic);

  // A burst has been stored, and is in the card if no other core's was in the way.
  void stored(VeloPacket& packet, SimTime now);
  // A packet or a drop notice, all of whose bytes are in the card at `here`.
  void arrived(VeloPacket& packet, SimTime here);
  void departed(SimTime end) { outlet_.departed(end); }
  // A rank has stored how many slots it has freed.
  struct ReadPointer {
    ExtollPort* port;
    unsigned freed;
  };
  void read_pointer(const ReadPointer& pointer, SimTime now);
  // What was held back has a slot now.
  void write_held(VeloPacket& packet, SimTime now);

 private:
  void take(VeloPacket& packet, SimTime now);
  void take_pointer(const ReadPointer& pointer, SimTime now);
  void leave(VeloPacket& packet, SimTime now);
  void deliver(VeloPacket& packet, SimTime now);
  void written(VeloPacket& packet, SimTime now);
  // What a slot gets of it: status and payload.
  [[nodiscard]] Bytes bytes_in_slot(const VeloPacket& packet) const;
  void return_notice(VeloPacket& packet, SimTime now);

  ExtollNic& nic_;
  Passage<VeloPacket, Velo, &Velo::take> storing_;
  WordPassage<ReadPointer, Velo, &Velo::take_pointer> pointers_;
  FifoServer engine_;
  Pipeline<VeloPacket, Velo, &Velo::leave> sending_;
  Pipeline<VeloPacket, Velo, &Velo::deliver> receiving_;
  Passage<VeloPacket, Velo, &Velo::written> writing_;
  Outlet outlet_;
};

}  // namespace gasmeter::networks::extoll

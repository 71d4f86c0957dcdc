// VELO, the unit for small messages. A node has one, which its ranks share.
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
  static constexpr Bytes kReadPointer = 8;  // one word of the card

  explicit Velo(ExtollNic& nic);

  // A burst has been stored and is in the card now, unless a burst of another core is in the way.
  void stored(VeloPacket& packet, SimTime now);
  // Take a packet or a drop notice, all of whose bytes are in the card at `in_card`.
  void arrived(VeloPacket& packet, SimTime in_card);
  void departed(SimTime end) { outlet_.departed(end); }
  // A rank's store that tells how many slots it has freed.
  struct ReadPointer {
    ExtollPort* port;
    unsigned freed;
  };
  void read_pointer(const ReadPointer& pointer, SimTime now);
  // Write a packet that was held back and has a slot now.
  void write_held(VeloPacket& packet, SimTime now);

 private:
  void take(VeloPacket& packet, SimTime now);
  void take_pointer(const ReadPointer& pointer, SimTime now);
  void leave(VeloPacket& packet, SimTime now);
  void deliver(VeloPacket& packet, SimTime now);
  void written(VeloPacket& packet, SimTime now);
  // Return how much of a packet a slot receives: status and payload.
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

// One UDP socket of a modelled host: its calls charge the rank what system calls and copies cost.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/ethernet/packet.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::ethernet {

class EthernetNetwork;

// What the kernel keeps of a waiting datagram besides its bytes counts against the socket's buffer, as the udp conduit
// takes it to (networks/udp/send_window.hpp).
inline constexpr Bytes kBookkeeping = 768;

class EthernetSocket {
 public:
  EthernetSocket(EthernetNetwork& network, sim::ModelHost host, std::uint32_t number);
  EthernetSocket(const EthernetSocket&) = delete;
  EthernetSocket& operator=(const EthernetSocket&) = delete;

  // ---- calls of the rank, on its own fibre
  // A datagram of all parts to the other rank's socket of the same kind. False: the socket's buffer is full; nothing
  // was charged, and the rank is woken when there is room. Throws UsageError for more than a datagram holds.
  [[nodiscard]] bool send(Rank to, std::span<const iovec> parts);
  // The next datagram that waits. False: there is none; who looks without need charges a missed poll. Its bytes stand
  // in `datagram` and are still to be copied.
  [[nodiscard]] bool receive(std::vector<std::byte>& datagram);
  // Bytes of that datagram. 0: there is none, and nothing was charged: who looks without need pays for it.
  [[nodiscard]] Bytes bytes_waiting();
  [[nodiscard]] sim::ModelHost& host() { return host_; }
  // What its kernel holds for it: datagrams that have not left, wait, or are being put together. Its limits are no
  // memory.
  [[nodiscard]] Bytes reserved_bytes() const;

  // ---- for the network, on the rank's node
  enum class Input : std::uint8_t {
    part,        // more packets are to come
    whole,       // a datagram waits
    overflow,    // a datagram was lost: no room
    incomplete,  // the last packet of a datagram that had lost one
  };
  [[nodiscard]] Input take_in(IpPacket& packet, SimTime now);
  // The packet never reaches the kernel. True if it was the last one of its datagram.
  [[nodiscard]] bool lose(const IpPacket& packet);
  // A packet of so many bytes on the wire has left the host at `end`.
  void departed(Bytes bytes, SimTime end);

 private:
  friend class EthernetNetwork;  // tells tracers what wake() is
  // A datagram of which not all packets have come.
  struct Partial {
    std::vector<std::byte> bytes;
    std::uint32_t seen = 0;  // packets, lost ones included
    bool broken = false;
  };
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // socket that sent it, number
  struct Timer : sim::Action {
    Timer(Run run, EthernetSocket* of) : Action(run), socket(of) {}
    EthernetSocket* socket;
    bool posted = false;
  };

  [[nodiscard]] Input queue(std::vector<std::byte>&& datagram, SimTime now);
  void post(Timer& timer, SimTime at);
  void free_departed(SimTime now);
  static void wake(sim::Action& timer, SimTime now);

  EthernetNetwork& network_;
  sim::ModelHost host_;
  std::uint32_t number_;
  std::uint32_t next_datagram_ = 0;
  Bytes unsent_ = 0;  // bytes on the wire of what has not left
  std::deque<std::pair<SimTime, Bytes>> departing_;
  bool refused_ = false;
  std::deque<std::vector<std::byte>> waiting_;
  Bytes waiting_bytes_ = 0;
  std::map<Key, Partial> partial_;
  std::vector<std::byte> staging_;
  Timer room_;
  Timer alarm_;
};

}  // namespace gasmeter::networks::ethernet

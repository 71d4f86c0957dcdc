// UDP socket of a modelled host. Its calls charge the rank the costs of system calls and copies.
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
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::ethernet {

class EthernetNetwork;

// Bytes of a waiting datagram's bookkeeping, which count against the socket's buffer. The udp conduit assumes the same
// value (networks/udp/send_window.hpp).
inline constexpr Bytes kBookkeeping = 768;

class EthernetSocket {
 public:
  EthernetSocket(EthernetNetwork& network, sim::ModelHost host, std::uint32_t number);
  EthernetSocket(const EthernetSocket&) = delete;
  EthernetSocket& operator=(const EthernetSocket&) = delete;

  // ---- calls of the rank, on its own fibre
  // Send a datagram, made of all parts, to the other rank's socket of the same kind. Returns false if the socket's
  // buffer is full: nothing was charged, and the rank is woken when there is room. Throws UsageError for more than a
  // datagram holds.
  [[nodiscard]] bool send(Rank to, std::span<const iovec> parts);
  // Take the next waiting datagram. Returns false if there is none; the caller charges a missed poll. The caller also
  // pays for the copy of the bytes in `datagram`.
  [[nodiscard]] bool receive(std::vector<std::byte>& datagram);
  // Return the bytes of the next datagram. 0: there is none, and nothing was charged; the caller pays for a vain
  // look.
  [[nodiscard]] Bytes bytes_waiting();
  [[nodiscard]] sim::ModelHost& host() { return host_; }
  // Bytes that the kernel holds for this socket: datagrams that have not left, wait, or are incomplete. Buffer limits
  // do not count as memory.
  [[nodiscard]] Bytes reserved_bytes() const;

  // ---- calls of the network, on the rank's node
  enum class Input : std::uint8_t {
    part,        // more packets are to come
    whole,       // a datagram waits
    overflow,    // a datagram was lost: no room
    incomplete,  // the last packet of a datagram that had lost one
  };
  [[nodiscard]] Input take_in(IpPacket& packet, SimTime now);
  // Drop a packet before the kernel. Returns true if it was the last packet of its datagram.
  [[nodiscard]] bool lose(const IpPacket& packet);
  // Account for a packet of so many bytes on the wire that has left the host at `end`.
  void departed(Bytes bytes, SimTime end);

 private:
  friend class EthernetNetwork;  // names wake() for tracers
  // Datagram of which some packets are missing.
  struct Partial {
    std::vector<std::byte> bytes;
    std::uint32_t seen = 0;  // packets, lost ones included
    bool broken = false;
  };
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // sending socket, and its datagram's number
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
  Bytes unsent_ = 0;  // bytes on the wire that have not left
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

// Modelled socket without a library, to compare the conduit with. It has the interface of the real socket in
// networks/udp/raw_datagrams.hpp, and repairs no losses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gasmeter/networks/ethernet/ethernet_socket.hpp"

namespace gasmeter::networks::ethernet {

class RawSocket {
 public:
  // The network outlives the socket.
  RawSocket(EthernetNetwork& network, Rank self, std::uint32_t ranks);

  [[nodiscard]] sim::ModelHost& host() { return socket_.host(); }
  // Wait while the socket's buffer is full, then send.
  void send(Rank to, const void* data, Bytes bytes) { send_on(socket_, to, data, bytes); }
  // Receive the next datagram, cut to `bytes`; wait for it. The run ends in a UsageError if it was lost.
  Bytes receive(void* data, Bytes bytes) { return receive_on(socket_, data, bytes); }
  // Return 0 if no datagram waits.
  [[nodiscard]] Bytes try_receive(void* data, Bytes bytes);

  // Barrier by datagrams between the second sockets, which measured traffic does not use.
  void barrier();

 private:
  static constexpr std::size_t kMostRounds = 16;  // enough for 65536 ranks

  void send_on(EthernetSocket& socket, Rank to, const void* data, Bytes bytes);
  Bytes receive_on(EthernetSocket& socket, void* data, Bytes bytes);
  Bytes take(EthernetSocket& socket, void* data, Bytes bytes);

  EthernetSocket& socket_;
  EthernetSocket& second_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  std::array<std::uint32_t, kMostRounds> told_{};  // signals of each round of a barrier that were not yet waited for
  std::vector<std::byte> arrived_;
};

}  // namespace gasmeter::networks::ethernet

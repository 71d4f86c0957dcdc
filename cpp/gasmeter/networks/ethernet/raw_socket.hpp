// A modelled socket in its own words, as networks/udp/raw_datagrams.hpp has a real one: what a program without the
// library does, and what the conduit is compared with. Repairs nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gasmeter/networks/ethernet/ethernet_socket.hpp"

namespace gasmeter::networks::ethernet {

class RawSocket {
 public:
  // The network outlives it.
  RawSocket(EthernetNetwork& network, Rank self, std::uint32_t ranks);

  [[nodiscard]] sim::ModelHost& host() { return socket_.host(); }
  // Waits while the socket's buffer is full.
  void send(Rank to, const void* data, Bytes bytes) { send_on(socket_, to, data, bytes); }
  // The next datagram, cut to `bytes`; waits for it. If it was lost the run ends in a UsageError.
  Bytes receive(void* data, Bytes bytes) { return receive_on(socket_, data, bytes); }
  // 0: nothing there.
  [[nodiscard]] Bytes try_receive(void* data, Bytes bytes);

  // By datagrams between second sockets, which what is measured does not see.
  void barrier();

 private:
  static constexpr std::size_t kMostRounds = 16;  // of 65536 ranks

  void send_on(EthernetSocket& socket, Rank to, const void* data, Bytes bytes);
  Bytes receive_on(EthernetSocket& socket, void* data, Bytes bytes);
  Bytes take(EthernetSocket& socket, void* data, Bytes bytes);

  EthernetSocket& socket_;
  EthernetSocket& second_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  std::array<std::uint32_t, kMostRounds> told_{};  // of each round of a barrier, and not yet waited for
  std::vector<std::byte> arrived_;
};

}  // namespace gasmeter::networks::ethernet

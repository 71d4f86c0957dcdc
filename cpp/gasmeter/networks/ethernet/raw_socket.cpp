#include "gasmeter/networks/ethernet/raw_socket.hpp"

#include <algorithm>

#include "gasmeter/networks/ethernet/ethernet_network.hpp"

namespace gasmeter::networks::ethernet {

RawSocket::RawSocket(EthernetNetwork& network, Rank self, std::uint32_t ranks)
    : socket_(network.socket(self)), second_(network.second_socket(self)), self_(index(self)), ranks_(ranks) {}

void RawSocket::send_on(EthernetSocket& socket, Rank to, const void* data, Bytes bytes) {
  const iovec part{const_cast<void*>(data), bytes};
  while (!socket.send(to, {&part, 1})) {
    host().describe_wait("room in the buffer of its socket");
    host().idle(kNever);
  }
}

Bytes RawSocket::take(EthernetSocket& socket, void* data, Bytes bytes) {
  if (!socket.receive(arrived_)) return 0;
  const Bytes taken = std::min<Bytes>(bytes, arrived_.size());
  host().copy(data, arrived_.data(), taken);
  return taken;
}

Bytes RawSocket::try_receive(void* data, Bytes bytes) {
  const Bytes taken = take(socket_, data, bytes);
  if (taken == 0) host().charge(conduit::PrivatePrice::poll_miss);
  return taken;
}

Bytes RawSocket::receive_on(EthernetSocket& socket, void* data, Bytes bytes) {
  for (;;) {
    if (const Bytes taken = take(socket, data, bytes); taken != 0) return taken;
    host().describe_wait("a datagram");
    host().idle(kNever);
  }
}

// In round r a rank signals the rank 2^r ahead. A fast rank is at most one barrier ahead of a slow one.
void RawSocket::barrier() {
  for (std::uint32_t round = 0, ahead = 1; ahead < ranks_; ++round, ahead *= 2) {
    const auto number = static_cast<std::uint8_t>(round);
    send_on(second_, Rank{(self_ + ahead) % ranks_}, &number, sizeof number);
    while (told_[round] == 0) {
      std::uint8_t other = 0;
      (void)receive_on(second_, &other, sizeof other);
      ++told_[other % kMostRounds];
    }
    --told_[round];
  }
}

}  // namespace gasmeter::networks::ethernet

// Modelled datagram service: one socket, one datagram per system call.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gasmeter/networks/ethernet/ethernet_socket.hpp"
#include "gasmeter/services/datagram_service.hpp"

namespace gasmeter::networks::ethernet {

class EthernetDatagrams final : public services::DatagramService {
 public:
  // `largest` is the payload limit of a datagram; 0: as much as fits a packet, rounded down to 16 as on real sockets.
  // The network outlives the service. Throws UsageError for more than a datagram holds.
  EthernetDatagrams(EthernetNetwork& network, Rank self, Bytes largest);

  [[nodiscard]] const services::DatagramLimits& limits() const override { return limits_; }
  unsigned send(Rank to, std::span<const iovec> parts, Bytes segment) override;
  bool receive(services::Inbox& inbox) override;
  [[nodiscard]] Bytes bytes_waiting() override { return socket_.bytes_waiting(); }
  [[nodiscard]] SimTime look_price() const override { return look_price_; }
  [[nodiscard]] Bytes reserved_bytes() const override { return socket_.reserved_bytes(); }

 private:
  EthernetSocket& socket_;
  services::DatagramLimits limits_;
  SimTime look_price_;
  std::vector<std::byte> arrived_;
};

}  // namespace gasmeter::networks::ethernet

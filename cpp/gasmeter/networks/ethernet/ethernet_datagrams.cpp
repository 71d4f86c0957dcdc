#include "gasmeter/networks/ethernet/ethernet_datagrams.hpp"

#include <algorithm>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/ethernet/ethernet_network.hpp"

namespace gasmeter::networks::ethernet {

EthernetDatagrams::EthernetDatagrams(EthernetNetwork& network, Rank self, Bytes largest)
    : socket_(network.socket(self)), look_price_(network.parameters().ioctl) {
  if (largest > services::kLargestDatagram) {
    throw UsageError("ethernet: datagrams of " + std::to_string(largest) + " bytes; at most " +
                     std::to_string(services::kLargestDatagram));
  }
  limits_.largest = largest != 0 ? largest
                                 : std::min((network.parameters().mtu - kIpHeader - kUdpHeader) / 16 * 16,
                                            services::kLargestDatagram);
  limits_.receive_buffer = network.parameters().receive_buffer;
}

unsigned EthernetDatagrams::send(Rank to, std::span<const iovec> parts, Bytes segment) {
  Bytes total = 0;
  for (const iovec& part : parts) total += part.iov_len;
  // The limits allow one datagram a call, so callers never hand over more.
  if (total > segment) throw UsageError("ethernet: one datagram a call");
  return socket_.send(to, parts) ? 1 : 0;
}

bool EthernetDatagrams::receive(services::Inbox& inbox) {
  inbox.datagrams.clear();
  if (!socket_.receive(arrived_)) return false;
  sim::ModelHost& host = socket_.host();
  const services::Inbox::Landing& landing = inbox.landing;
  const Bytes bytes = std::min<Bytes>(arrived_.size(), inbox.size());
  const Bytes head = landing.bytes != 0 ? std::min(bytes, landing.at) : bytes;
  bool lands = false;
  host.copy(inbox.data(), arrived_.data(), head);
  if (head != bytes) {
    // Other ranks of the node may see the landing's memory.
    const Bytes landed = std::min(bytes - head, landing.bytes);
    lands = inbox.may_land && inbox.may_land({inbox.data(), head}, bytes);
    host.synchronise();
    host.copy(lands ? landing.to : inbox.data() + head, arrived_.data() + head, landed);
    if (const Bytes tail = bytes - head - landed; tail != 0) {
      host.copy(inbox.data() + head + landed, arrived_.data() + head + landed, tail);
    }
  }
  inbox.datagrams.push_back({inbox.data(), bytes, lands});
  return true;
}

}  // namespace gasmeter::networks::ethernet

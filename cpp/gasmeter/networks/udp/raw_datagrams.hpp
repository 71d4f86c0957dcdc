// Unconnected UDP socket without a library, the lower bound for the udp conduit. Programs of AMUDP's time used sockets
// this way. Each datagram takes one call, and losses are not repaired.
#pragma once

#include <string>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/base/socket_address.hpp"

namespace gasmeter::networks::udp {

class RawDatagrams {
 public:
  // Throws UsageError and ResourceError as SocketDatagrams does.
  explicit RawDatagrams(const std::string& bind, WaitMode mode);
  RawDatagrams(const RawDatagrams&) = delete;
  RawDatagrams& operator=(const RawDatagrams&) = delete;
  ~RawDatagrams();

  [[nodiscard]] std::string address() const { return SocketAddress::of_socket(fd_).text(); }
  void set_peers(const std::vector<std::string>& addresses);
  [[nodiscard]] RealHost& host() { return host_; }

  // Wait while the socket's buffer is full, then send.
  void send(Rank to, const void* data, Bytes bytes);
  // Receive the next datagram, cut to `bytes`, spinning until it comes. Throws BrokenJob after `kPatience`: a
  // datagram was lost, and no layer here sends it again.
  Bytes receive(void* data, Bytes bytes);
  // Return 0 if no datagram waits.
  [[nodiscard]] Bytes try_receive(void* data, Bytes bytes);

 private:
  static constexpr SimTime kPatience{10'000'000'000'000};  // 10 s

  RealHost host_;
  int fd_;
  std::vector<SocketAddress> peers_;
};

}  // namespace gasmeter::networks::udp

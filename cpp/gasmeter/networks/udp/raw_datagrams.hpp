// One unconnected socket in its own words: what every program of the udp conduit's time used, and what the conduit is
// measured against. Calls the kernel once per datagram and repairs nothing.
#pragma once

#include <string>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/base/socket_address.hpp"

namespace gasmeter::networks::udp {

class RawDatagrams {
 public:
  // Throws UsageError, ResourceError as SocketDatagrams does.
  explicit RawDatagrams(const std::string& bind, WaitMode mode);
  RawDatagrams(const RawDatagrams&) = delete;
  RawDatagrams& operator=(const RawDatagrams&) = delete;
  ~RawDatagrams();

  [[nodiscard]] std::string address() const { return SocketAddress::of_socket(fd_).text(); }
  void set_peers(const std::vector<std::string>& addresses);
  [[nodiscard]] RealHost& host() { return host_; }

  // Waits while the socket's buffer is full.
  void send(Rank to, const void* data, Bytes bytes);
  // The next datagram, cut to `bytes`; waits for it, spinning. Throws BrokenJob if none comes for `kPatience`: one was
  // lost, and nothing here sends it again.
  Bytes receive(void* data, Bytes bytes);
  // 0: nothing there.
  [[nodiscard]] Bytes try_receive(void* data, Bytes bytes);

 private:
  static constexpr SimTime kPatience{10'000'000'000'000};  // 10 s

  RealHost host_;
  int fd_;
  std::vector<SocketAddress> peers_;
};

}  // namespace gasmeter::networks::udp

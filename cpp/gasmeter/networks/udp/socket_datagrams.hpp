// Datagrams over this computer's UDP sockets.
//
// One socket receives from all peers. A second, connected socket sends to each peer, so that the kernel looks up the
// route only once. That saves a tenth of a lone message's round trip over loopback. Headers name the sender, so the
// source port does not matter.
#pragma once

#include <string>
#include <vector>

#include "gasmeter/base/socket_address.hpp"
#include "gasmeter/services/datagram_service.hpp"

namespace gasmeter::networks::udp {

struct SocketOptions {
  std::string bind = "127.0.0.1:0";  // port 0: the kernel chooses
  Bytes mtu = 0;                     // MTU of the path, headers of IP and UDP included; 0: the interface's
  bool offload = true;               // UDP_SEGMENT and UDP_GRO, sendmmsg and recvmmsg; false: plain calls alone
};

// Return whether a send with this error has lost its datagrams. Routes, interfaces and firewalls come and go.
[[nodiscard]] bool is_loss(int error);

class SocketDatagrams final : public services::DatagramService {
 public:
  // Throws UsageError for a malformed address, ResourceError for a port that is taken.
  explicit SocketDatagrams(const SocketOptions& options);
  ~SocketDatagrams() override;

  [[nodiscard]] int fd() const { return fd_; }  // readable when a datagram has arrived
  [[nodiscard]] std::string address() const { return SocketAddress::of_socket(fd_).text(); }
  // Set the ranks' addresses, in their order, before the first send(). `largest` limits datagrams to a size that
  // every path carries. Throws UsageError for an address that two ranks name.
  void set_peers(const std::vector<std::string>& addresses, Bytes largest);

  [[nodiscard]] const services::DatagramLimits& limits() const override { return limits_; }
  unsigned send(Rank to, std::span<const iovec> parts, Bytes segment) override;
  bool receive(services::Inbox& inbox) override;
  [[nodiscard]] Bytes bytes_waiting() override;

 private:
  struct Peer {
    SocketAddress address;
    int fd = -1;  // connected on first use
  };

  [[nodiscard]] int socket_to(Peer& peer);
  [[nodiscard]] unsigned send_segmented(Peer& peer, std::span<const iovec> parts, unsigned count, Bytes segment);
  [[nodiscard]] unsigned send_each(Peer& peer, std::span<const iovec> parts, Bytes segment);
  [[nodiscard]] unsigned taken(const Peer& peer, int error, unsigned count) const;
  [[nodiscard]] bool receive_one(services::Inbox& inbox);
  [[nodiscard]] bool receive_offloaded(services::Inbox& inbox);
  [[nodiscard]] bool receive_batch(services::Inbox& inbox);
  [[nodiscard]] Bytes next_bytes() const;

  // How receive() calls the kernel. Plain calls serve a lone message fastest. The other modes begin when a full
  // datagram comes.
  enum class Mode : std::uint8_t { plain, batch, offload };

  SocketOptions options_;
  int fd_ = -1;
  services::DatagramLimits limits_;
  Mode mode_ = Mode::plain;
  unsigned vain_looks_ = 0;
  std::vector<Peer> peers_;
};

}  // namespace gasmeter::networks::udp

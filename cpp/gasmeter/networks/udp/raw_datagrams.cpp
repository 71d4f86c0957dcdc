#include "gasmeter/networks/udp/raw_datagrams.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/udp/bound_socket.hpp"

namespace gasmeter::networks::udp {

RawDatagrams::RawDatagrams(const std::string& bind, WaitMode mode)
    : host_(mode), fd_(bound_socket(SocketAddress::parse(bind), 0)) {}

RawDatagrams::~RawDatagrams() {
  ::close(fd_);
}

void RawDatagrams::set_peers(const std::vector<std::string>& addresses) {
  for (const std::string& text : addresses) peers_.push_back(SocketAddress::parse(text));
}

void RawDatagrams::send(Rank to, const void* data, Bytes bytes) {
  const SocketAddress& peer = peers_[index(to)];
  while (::sendto(fd_, data, bytes, 0, peer.data(), peer.size()) < 0) {
    if (errno != EINTR && errno != ENOBUFS && errno != ECONNREFUSED) {
      throw ResourceError("raw@udp: sending " + std::to_string(bytes) + " bytes to " + peer.text() + ": " +
                          std::strerror(errno));
    }
  }
}

Bytes RawDatagrams::try_receive(void* data, Bytes bytes) {
  const ssize_t received = ::recv(fd_, data, bytes, MSG_DONTWAIT);
  return received < 0 ? 0 : static_cast<Bytes>(received);
}

Bytes RawDatagrams::receive(void* data, Bytes bytes) {
  if (const Bytes received = try_receive(data, bytes); received != 0) return received;
  const SimTime start = host_.now();
  while (true) {
    for (int i = 0; i < 1024; ++i) {
      if (const Bytes received = try_receive(data, bytes); received != 0) return received;
      host_.idle(kNever);
    }
    if (host_.now() - start > kPatience) throw BrokenJob("raw@udp: a datagram was lost, and nobody sends it again");
  }
}

}  // namespace gasmeter::networks::udp

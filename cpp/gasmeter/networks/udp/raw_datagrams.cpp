#include "gasmeter/networks/udp/raw_datagrams.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::udp {
namespace {

constexpr int kSocketBuffer = 4 * 1024 * 1024;  // asked for; the kernel may give less

}  // namespace

RawDatagrams::RawDatagrams(const std::string& bind, WaitMode mode) : host_(mode) {
  const SocketAddress own = SocketAddress::parse(bind);
  fd_ = ::socket(own.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd_ < 0) throw_errno("socket");
  if (::bind(fd_, own.data(), own.size()) != 0) {
    const int error = errno;
    ::close(fd_);
    throw ResourceError("raw@udp: cannot use address " + bind + ": " + std::strerror(error));
  }
  for (const int option : {SO_RCVBUF, SO_SNDBUF}) {
    (void)::setsockopt(fd_, SOL_SOCKET, option, &kSocketBuffer, sizeof kSocketBuffer);
  }
}

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

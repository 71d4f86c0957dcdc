#include "gasmeter/networks/udp/bound_socket.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::udp {

void set_option(int fd, int level, int option, int value) {
  (void)::setsockopt(fd, level, option, &value, sizeof value);
}

namespace {

// Check that a route exists. An address can be bound while every interface is down. Each datagram would then count as
// lost, and ranks would wait for ever.
void require_route(int fd, const SocketAddress& address) {
  if (address.is_any()) return;
  const SocketAddress bound_address = SocketAddress::of_socket(fd);
  const int probe = ::socket(bound_address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) throw_errno("socket");
  const int error = ::connect(probe, bound_address.data(), bound_address.size()) == 0 ? 0 : errno;
  ::close(probe);
  if (error == ENETUNREACH || error == EHOSTUNREACH || error == ENETDOWN) {
    throw ResourceError("udp: no network interface that is up carries packets for " + address.text() + ": " +
                        std::strerror(error) + "; bring it up, for instance `ip link set lo up`");
  }
}

}  // namespace

int bound_socket(const SocketAddress& address, int flags) {
  const int fd = ::socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC | flags, 0);
  if (fd < 0) throw_errno("socket");
  if (::bind(fd, address.data(), address.size()) != 0) {
    const int error = errno;
    ::close(fd);
    throw ResourceError("udp: cannot use address " + address.text() + ": " + std::strerror(error) +
                        (error == EADDRINUSE ? "; choose another port, or 0 for any" : ""));
  }
  try {
    require_route(fd, address);
  } catch (const ResourceError&) {
    ::close(fd);
    throw;
  }
  for (const int option : {SO_RCVBUF, SO_SNDBUF}) set_option(fd, SOL_SOCKET, option, kSocketBuffer);
  return fd;
}

}  // namespace gasmeter::networks::udp

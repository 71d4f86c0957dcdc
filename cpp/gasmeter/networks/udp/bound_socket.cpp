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

int bound_socket(const SocketAddress& address, int flags) {
  const int fd = ::socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC | flags, 0);
  if (fd < 0) throw_errno("socket");
  if (::bind(fd, address.data(), address.size()) != 0) {
    const int error = errno;
    ::close(fd);
    throw ResourceError("udp: cannot use address " + address.text() + ": " + std::strerror(error) +
                        (error == EADDRINUSE ? "; choose another port, or 0 for any" : ""));
  }
  for (const int option : {SO_RCVBUF, SO_SNDBUF}) set_option(fd, SOL_SOCKET, option, kSocketBuffer);
  return fd;
}

}  // namespace gasmeter::networks::udp

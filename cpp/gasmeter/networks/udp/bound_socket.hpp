// How every socket of this folder is opened.
#pragma once

#include "gasmeter/base/socket_address.hpp"

namespace gasmeter::networks::udp {

inline constexpr int kSocketBuffer = 4 * 1024 * 1024;  // asked for; the kernel may give less

// What the kernel does not grant costs speed alone.
void set_option(int fd, int level, int option, int value);

// A datagram socket with large buffers; `flags` of socket(), such as SOCK_NONBLOCK. Who calls closes it. Throws
// ResourceError for an address that cannot be had, such as a port that is taken, or that no interface carries.
[[nodiscard]] int bound_socket(const SocketAddress& address, int flags);

}  // namespace gasmeter::networks::udp

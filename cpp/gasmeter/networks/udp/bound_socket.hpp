// Opens every socket of this folder.
#pragma once

#include "gasmeter/base/socket_address.hpp"

namespace gasmeter::networks::udp {

inline constexpr int kSocketBuffer = 4 * 1024 * 1024;  // requested size; the kernel may give less

// Set an option of a socket. The result is ignored, because a refusal costs speed alone.
void set_option(int fd, int level, int option, int value);

// Open a datagram socket with large buffers. `flags` are those of socket(), such as SOCK_NONBLOCK. The caller closes
// it. Throws ResourceError for an unusable address, such as a port that is taken, or an address that no interface
// carries.
[[nodiscard]] int bound_socket(const SocketAddress& address, int flags);

}  // namespace gasmeter::networks::udp

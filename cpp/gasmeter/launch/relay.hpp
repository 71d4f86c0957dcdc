// The relay, which stands for a rank of another host beside its launcher. This process passes bytes between the
// launcher's end of the rank's link and the connection: plain on this host, sealed between the hosts.
#pragma once

#include "gasmeter/launch/sealed_stream.hpp"

namespace gasmeter::launch {

// Relay until either end closes. Returns an exit status: 0 if the job ended in order. Throws BrokenJob for a record
// that the rank did not send.
[[nodiscard]] int relay(int link_fd, int connection_fd, const SessionKeys& keys);

}  // namespace gasmeter::launch

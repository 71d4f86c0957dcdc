// Ranks on other hosts. Rank 0's launcher listens; every other rank connects to it, and both sides show that they know
// the job's secret before anything else is said. From then on the connection is that rank's link.
//
// The frames of a link are neither hidden nor protected from who can change packets on the way: what has to stay secret
// is derived from the job's secret and never sent.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "gasmeter/base/keyed_hash.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/launch/unique_fd.hpp"

namespace gasmeter::launch {

// A job whose ranks stand on several hosts.
struct RemoteJob {
  std::vector<std::string> addresses;  // HOST:PORT by rank: rank 0 listens on its own, the others bind their sockets
  HashKey secret;
  std::chrono::seconds patience{60};  // for ranks that have not come yet
};

// Reads 16 bytes from a descriptor that was inherited, and closes it. Throws UsageError.
[[nodiscard]] HashKey read_secret(int fd);

// Rank 0: waits for all other ranks. Returns a connection per rank, none for rank 0. Strangers are turned away. Throws
// ResourceError naming the ranks that did not come, or an address that cannot be listened on.
[[nodiscard]] std::vector<UniqueFd> accept_ranks(const RemoteJob& job);

// Any other rank: connects, trying again until rank 0 listens. Throws ResourceError.
[[nodiscard]] UniqueFd join(const RemoteJob& job, std::uint32_t rank);

// Passes bytes between a launcher's end of a link and a connection until either ends. Returns an exit status.
[[nodiscard]] int relay(int link_fd, int connection_fd);

}  // namespace gasmeter::launch

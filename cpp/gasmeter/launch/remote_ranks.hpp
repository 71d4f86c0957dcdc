// Ranks on other hosts. Rank 0's launcher listens; every other rank connects to it, and both sides show that they know
// the job's secret before anything else is said. From then on the connection is that rank's link.
//
// Everything on such a link is authentic (sealed_stream.hpp), nothing of it is hidden: what has to stay secret is
// derived from the job's secret and never sent.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "gasmeter/base/keyed_hash.hpp"
#include "gasmeter/launch/sealed_stream.hpp"
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

struct Connection {
  UniqueFd fd;
  SessionKeys keys;
};

// Rank 0: waits for all other ranks. Returns a connection per rank, none for rank 0. Strangers are turned away, and no
// rank waits for them. Throws ResourceError naming the ranks that did not come and how many strangers did, or an
// address that cannot be listened on.
[[nodiscard]] std::vector<Connection> accept_ranks(const RemoteJob& job);

// Any other rank: connects, trying again until rank 0 listens and has answered. Throws ResourceError.
[[nodiscard]] Connection join(const RemoteJob& job, std::uint32_t rank);

}  // namespace gasmeter::launch

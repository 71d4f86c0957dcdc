// Ranks on other hosts. Rank 0's launcher listens; every other rank connects to it, and both sides prove that they know
// the job's secret before they say anything else. From then on the connection is that rank's link.
//
// All bytes on such a link are authentic (sealed_stream.hpp), but none are hidden: secrets are derived from the job's
// secret and never sent.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "gasmeter/base/keyed_hash.hpp"
#include "gasmeter/launch/sealed_stream.hpp"
#include "gasmeter/launch/unique_fd.hpp"

namespace gasmeter::launch {

// A job whose ranks run on several hosts.
struct RemoteJob {
  std::vector<std::string>
      addresses;  // HOST:PORT by rank: rank 0 listens on its address, the others bind their sockets
  HashKey secret;
  std::chrono::seconds patience{60};  // for ranks that have not come yet
};

// Read 16 bytes from an inherited descriptor, and close it. Throws UsageError.
[[nodiscard]] HashKey read_secret(int fd);

struct Connection {
  UniqueFd fd;
  SessionKeys keys;
};

// Wait, at rank 0, for all other ranks. Returns a connection per rank, none for rank 0. Strangers are turned away, and
// no rank waits for them. Throws ResourceError naming the ranks that did not come and the number of strangers, or an
// address that cannot be listened on.
[[nodiscard]] std::vector<Connection> accept_ranks(const RemoteJob& job);

// Join, at any other rank: connect, and try again until rank 0 listens and has answered. Throws ResourceError.
[[nodiscard]] Connection join(const RemoteJob& job, std::uint32_t rank);

}  // namespace gasmeter::launch

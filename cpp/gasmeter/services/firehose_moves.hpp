// Firehose for the memory of other ranks: types that both sides share.
//
// A firehose is the right to keep one bucket of another rank's memory pinned. Every rank has the same number of
// firehoses to each other rank, as many as the memory pinned there allows. It moves them from bucket to bucket by one
// message and its answer (firehose_remote.hpp asks, firehose_owner.hpp answers).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::services {

// Shares of the memory that a rank can pin.
struct FirehoseShare {
  std::uint64_t peers;
  std::uint64_t each;     // buckets that each peer may hold
  std::uint64_t victims;  // additional buckets, pinned although no peer holds them, or used by the rank itself
  Bytes bucket;
};

// Divide `memory` bytes among the peers, with `victims` bytes more. Throw UsageError if a peer would get no bucket.
[[nodiscard]] inline FirehoseShare firehose_share(Bytes memory, Bytes victims, Bytes bucket, std::uint64_t ranks) {
  if (bucket == 0 || ranks == 0) throw UsageError("firehose: buckets of 0 B or 0 ranks; 1 or more are needed of each");
  const std::uint64_t peers = ranks - 1;
  const std::uint64_t each = peers == 0 ? 0 : memory / bucket / peers;
  if (peers != 0 && each == 0) {
    throw UsageError("firehose: " + std::to_string(memory) + " B pinned for " + std::to_string(peers) +
                     " peers leave each no bucket of " + std::to_string(bucket) + " B; pin " +
                     std::to_string(peers * bucket) + " B or more, or have smaller buckets");
  }
  return {peers, each, victims / bucket, bucket};
}

// Messages that the caller carries to the owner and back.
struct MoveRequest {
  std::uint64_t number;
  std::vector<std::uint64_t> given_up;
  std::vector<std::uint64_t> wanted;
};
struct MoveReply {
  std::uint64_t number;
};

}  // namespace gasmeter::services

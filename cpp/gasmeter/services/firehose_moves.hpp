// Firehose for the memory of others: what its two sides share.
//
// A firehose is the right to keep one bucket of another rank's memory pinned. Every rank has as many to each other one
// as that one's memory allows; it moves them from bucket to bucket by one message and its answer (firehose_remote.hpp
// asks, firehose_owner.hpp answers).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::services {

// How a rank shares out what it can pin.
struct FirehoseShare {
  std::uint64_t peers;
  std::uint64_t each;     // buckets that each of them may hold
  std::uint64_t victims;  // more buckets: pinned, but held by nobody, or by the rank itself
  Bytes bucket;
};

// Of `memory` bytes for others and `victims` bytes more. Throws UsageError where a peer would have no bucket.
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

// What the caller carries to the owner, and back.
struct MoveRequest {
  std::uint64_t number;
  std::vector<std::uint64_t> given_up;
  std::vector<std::uint64_t> wanted;
};
struct MoveReply {
  std::uint64_t number;
};

}  // namespace gasmeter::services

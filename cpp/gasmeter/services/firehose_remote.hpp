// The firehoses of one rank: which buckets of others it holds, who uses them, and what has to be asked of whom.
//
// A state machine without a network: it says what to send, and is told what has come. A transfer whose buckets are all
// held goes at once. For those that are missing one request goes out, whatever their number; it gives up as many of the
// firehoses unused for longest as are needed beside free ones. Buckets that are on their way are waited for, never
// asked for again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/services/firehose_moves.hpp"
#include "gasmeter/services/region_table.hpp"

namespace gasmeter::services {

struct FirehoseCounters {
  std::uint64_t hits = 0;      // transfers
  std::uint64_t misses = 0;    // transfers that asked
  std::uint64_t attached = 0;  // transfers that only wait for what others asked for
  std::uint64_t refused = 0;
  std::uint64_t moved = 0;     // buckets asked for
  std::uint64_t given_up = 0;  // buckets
  constexpr bool operator==(const FirehoseCounters&) const = default;
};

// Of one thread.
class RemoteFirehoses {
 public:
  using Operation = std::uint64_t;  // the caller's name of a transfer

  enum class Held {
    all,      // go ahead
    waits,    // moved() names the operation when all are there
    refused,  // too many are in use: nothing has changed; try again after a release
  };
  struct Answer {
    Held held;
    std::optional<MoveRequest> request;  // to be sent to the owner
  };

  // So many to each owner (FirehoseShare::each).
  explicit RemoteFirehoses(std::uint64_t each) : each_(each) {}

  // A use of buckets (counted in buckets, not in pages), until release(). Throws UsageError for none, and for more than
  // there can be.
  [[nodiscard]] Answer acquire(Rank owner, const conduit::Pages& buckets, Operation operation);
  // The reply to a request. Returns which operations need not wait any more, in the order in which they asked. Throws
  // UsageError where no such request is under way.
  [[nodiscard]] std::vector<Operation> moved(Rank owner, const MoveReply& reply);
  // Of an operation that held them all. Throws UsageError, and changes nothing, where one is not held or not in use.
  void release(Rank owner, const conduit::Pages& buckets);

  // There, or on its way.
  [[nodiscard]] bool has(Rank owner, std::uint64_t bucket) const;
  [[nodiscard]] std::uint64_t held(Rank owner) const;
  [[nodiscard]] const FirehoseCounters& counters() const { return counters_; }

 private:
  struct Bucket {
    bool on_its_way = false;
    std::vector<std::uint64_t> waiting;  // numbers of those in waits_
  };
  struct Peer {
    RegionTable table;                                            // each region is a bucket
    std::vector<Bucket> buckets;                                  // by region
    std::map<std::uint64_t, std::vector<RegionNumber>> requests;  // under way, by number
    std::uint64_t requested = 0;
  };
  struct Waiting {
    Operation operation;
    std::uint64_t missing;
  };

  [[nodiscard]] MoveRequest ask(Peer& peer, const std::vector<std::uint64_t>& wanted);

  std::uint64_t each_;
  std::map<Rank, Peer> peers_;
  std::map<std::uint64_t, Waiting> waits_;  // in the order in which they asked
  std::uint64_t waited_ = 0;
  FirehoseCounters counters_;
};

}  // namespace gasmeter::services

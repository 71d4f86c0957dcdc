// The firehoses of one rank: the buckets of other ranks that it holds, their users, and the requests to send.
//
// The class is a state machine without a network: it returns requests to send, and is told of replies. A transfer
// whose buckets are all held proceeds at once. Otherwise one request asks for all missing buckets. It gives up as many
// firehoses, those unused for longest, as are needed beside the free ones. Buckets on their way are waited for and
// never requested again.
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
  std::uint64_t hits = 0;      // transfers without a request or a wait
  std::uint64_t misses = 0;    // transfers that sent a request
  std::uint64_t attached = 0;  // transfers that only wait for requests of others
  std::uint64_t refused = 0;
  std::uint64_t moved = 0;     // buckets requested
  std::uint64_t given_up = 0;  // buckets given up
  constexpr bool operator==(const FirehoseCounters&) const = default;
};

// Only one thread may call it.
class RemoteFirehoses {
 public:
  using Operation = std::uint64_t;  // the caller's number of a transfer

  enum class Held {
    all,      // the transfer may proceed
    waits,    // moved() returns the operation when all its buckets are held
    refused,  // too many buckets are in use: nothing has changed; try again after a release
  };
  struct Answer {
    Held held;
    std::optional<MoveRequest> request;  // to be sent to the owner
  };

  // `each` is the number of firehoses to each owner (FirehoseShare::each).
  explicit RemoteFirehoses(std::uint64_t each) : each_(each) {}

  // Use buckets (counted in buckets, not pages) until release(). Throw UsageError for no buckets, and for more than
  // `each`.
  [[nodiscard]] Answer acquire(Rank owner, const conduit::Pages& buckets, Operation operation);
  // Take the reply to a request. Return the operations that need to wait no more, in the order of their acquire().
  // Throw UsageError if no such request is under way.
  [[nodiscard]] std::vector<Operation> moved(Rank owner, const MoveReply& reply);
  // End the use of buckets by an operation that held them all. Throw UsageError, and change nothing, if a bucket is
  // not held or not in use.
  void release(Rank owner, const conduit::Pages& buckets);

  // Tell whether a bucket is held or on its way.
  [[nodiscard]] bool has(Rank owner, std::uint64_t bucket) const;
  [[nodiscard]] std::uint64_t held(Rank owner) const;
  [[nodiscard]] const FirehoseCounters& counters() const { return counters_; }

 private:
  struct Bucket {
    bool on_its_way = false;
    std::vector<std::uint64_t> waiting;  // keys of waits_
  };
  struct Peer {
    RegionTable table;                                            // one region per bucket
    std::vector<Bucket> buckets;                                  // by region
    std::map<std::uint64_t, std::vector<RegionNumber>> requests;  // requests under way, by number
    std::uint64_t requested = 0;
  };
  struct Waiting {
    Operation operation;
    std::uint64_t missing;
  };

  [[nodiscard]] MoveRequest ask(Peer& peer, const std::vector<std::uint64_t>& wanted);

  std::uint64_t each_;
  std::map<Rank, Peer> peers_;
  std::map<std::uint64_t, Waiting> waits_;  // in the order of acquire()
  std::uint64_t waited_ = 0;
  FirehoseCounters counters_;
};

}  // namespace gasmeter::services

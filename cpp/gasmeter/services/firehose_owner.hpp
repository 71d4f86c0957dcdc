// The owner's side of firehoses: its pinned buckets, the number of holders of each, and the unused ones.
//
// The class is a registration cache whose regions are single buckets. A bucket without a holder stays pinned as a
// victim until there are too many: then the oldest victim is unpinned. A victim that is wanted again costs nothing.
// Moves never wait and are never refused, in whatever order they arrive, since there is room for the shares of all
// peers beside all victims.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/services/firehose_moves.hpp"
#include "gasmeter/services/registration_cache.hpp"

namespace gasmeter::services {

// Only one thread may call an owner. P pins pages, which are buckets here.
template <Pinner P>
class FirehoseOwner {
 public:
  FirehoseOwner(P pinner, const FirehoseShare& share)
      : share_(share),
        cache_(std::move(pinner), {share.bucket, share.peers * share.each + share.victims, 0},
               {.kept = share.victims}) {}

  // Take the request of a peer. Throw UsageError, and change nothing, for a request beyond the peer's share. The same
  // holds for a bucket given up but not held, named twice, or beyond all memory. Throw ResourceError if the system
  // does not pin the memory that was promised.
  [[nodiscard]] MoveReply move(Rank from, const MoveRequest& request) {
    Held& held = held_[from];
    check(from, held, request);
    for (const std::uint64_t bucket : request.given_up) {
      release(bucket, &Use::remote);
      if (--held.buckets[bucket] == 0) held.buckets.erase(bucket);
    }
    for (const std::uint64_t bucket : request.wanted) {
      if (!acquire(bucket, &Use::remote)) {
        throw ResourceError("firehose: the system does not pin bucket " + std::to_string(bucket) + " beside " +
                            std::to_string(cache_.pinned_pages()) + " others; " +
                            std::to_string(share_.peers * share_.each) +
                            " were promised to peers: promise less memory");
      }
      ++held.buckets[bucket];
    }
    held.all += request.wanted.size();
    held.all -= request.given_up.size();
    return {request.number};
  }

  // Use a bucket by the rank itself. Return false, and change nothing, if the rank already uses as many buckets as
  // there may be victims.
  [[nodiscard]] bool acquire(std::uint64_t bucket) {
    const auto use_entry = uses_.find(bucket);
    const bool first = use_entry == uses_.end() || use_entry->second.local == 0;
    if (first && local_buckets_ == share_.victims) return false;
    if (!acquire(bucket, &Use::local)) return false;
    local_buckets_ += first ? 1 : 0;
    return true;
  }
  // End a use. Throw UsageError for a bucket that the rank does not use.
  void release(std::uint64_t bucket) {
    if (local_uses(bucket) == 0) {
      throw UsageError("firehose: bucket " + std::to_string(bucket) +
                       " is released, which its owner does not use; release each use once");
    }
    release(bucket, &Use::local);
    if (local_uses(bucket) == 0) --local_buckets_;
  }

  // Return by how many firehoses the peers hold a bucket.
  [[nodiscard]] std::uint64_t holders(std::uint64_t bucket) const { return uses_of(bucket).remote; }
  [[nodiscard]] std::uint64_t local_uses(std::uint64_t bucket) const { return uses_of(bucket).local; }
  [[nodiscard]] std::uint64_t pinned_buckets() const { return cache_.pinned_pages(); }
  [[nodiscard]] const CacheCounters& counters() const { return cache_.counters(); }
  [[nodiscard]] RegistrationCache<P>& cache() { return cache_; }
  // Return the handle of a bucket in use.
  [[nodiscard]] const typename P::Handle& handle(std::uint64_t bucket) const {
    return cache_.handle(uses_.at(bucket).region);
  }

 private:
  struct Use {
    RegionNumber region = kNoRegion;
    std::uint64_t remote = 0;
    std::uint64_t local = 0;
  };
  // The buckets that one peer holds.
  struct Held {
    std::uint64_t all = 0;
    std::map<std::uint64_t, std::uint64_t> buckets;  // number of holds of each bucket
  };

  [[nodiscard]] Use uses_of(std::uint64_t bucket) const {
    const auto use_entry = uses_.find(bucket);
    return use_entry == uses_.end() ? Use{} : use_entry->second;
  }
  // Check a request, which may overtake an earlier one. Each request asks for no less than it gives up, so that it
  // never lowers the peer's count. All requests together stay within the share, hence any of them do. A peer may want a
  // bucket again before its request to give that bucket up has arrived.
  void check(Rank from, const Held& held, const MoveRequest& request) const {
    check_names(from, request.given_up);
    check_names(from, request.wanted);
    for (const std::uint64_t bucket : request.given_up) {
      if (held.buckets.contains(bucket)) continue;
      throw UsageError("firehose: bucket " + std::to_string(bucket) + " is given up by rank " +
                       std::to_string(index(from)) + ", which does not hold it; each is given up once");
    }
    const std::uint64_t wanted = held.all + request.wanted.size();
    if (wanted - request.given_up.size() > share_.each) {
      throw UsageError("firehose: a peer that holds " + std::to_string(held.all) + " buckets gives up " +
                       std::to_string(request.given_up.size()) + " and wants " + std::to_string(request.wanted.size()) +
                       "; it may hold " + std::to_string(share_.each));
    }
  }
  void check_names(Rank from, std::vector<std::uint64_t> buckets) const {
    std::sort(buckets.begin(), buckets.end());
    const auto twice = std::adjacent_find(buckets.begin(), buckets.end());
    if (twice != buckets.end()) {
      throw UsageError("firehose: a request of rank " + std::to_string(index(from)) + " names bucket " +
                       std::to_string(*twice) + " twice; once is allowed");
    }
    const std::uint64_t end = ~std::uint64_t{0} / share_.bucket;
    if (!buckets.empty() && buckets.back() >= end) {
      throw UsageError("firehose: a request of rank " + std::to_string(index(from)) + " names bucket " +
                       std::to_string(buckets.back()) + "; memory has buckets below " + std::to_string(end));
    }
  }
  [[nodiscard]] bool acquire(std::uint64_t bucket, std::uint64_t Use::* side) {
    const RegionNumber region = cache_.acquire({bucket, 1});
    if (region == kNoRegion) return false;
    Use& use = uses_[bucket];
    use.region = region;
    ++(use.*side);
    return true;
  }
  void release(std::uint64_t bucket, std::uint64_t Use::* side) {
    const auto use_entry = uses_.find(bucket);
    Use& use = use_entry->second;
    --(use.*side);
    cache_.release(use.region);
    if (use.remote == 0 && use.local == 0) uses_.erase(use_entry);
  }

  FirehoseShare share_;
  RegistrationCache<P> cache_;
  std::map<std::uint64_t, Use> uses_;  // buckets in use
  std::map<Rank, Held> held_;
  std::uint64_t local_buckets_ = 0;  // buckets that the rank itself uses
};

}  // namespace gasmeter::services

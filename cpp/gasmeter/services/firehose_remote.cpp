#include "gasmeter/services/firehose_remote.hpp"

#include <algorithm>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::services {

using conduit::Pages;

namespace {

std::string name_of(Rank owner, std::uint64_t bucket) {
  return "firehose: bucket " + std::to_string(bucket) + " of rank " + std::to_string(static_cast<std::uint32_t>(owner));
}

}  // namespace

RemoteFirehoses::Answer RemoteFirehoses::acquire(Rank owner, const Pages& buckets, Operation operation) {
  if (buckets.count == 0 || buckets.count > each_) {
    throw UsageError("firehose: " + std::to_string(buckets.count) + " buckets for one transfer; 1 to " +
                     std::to_string(each_) + " are allowed: transfer less at a time, or pin more memory");
  }
  Peer& peer = peers_[owner];
  std::vector<RegionNumber> present;
  std::vector<std::uint64_t> wanted;
  std::uint64_t unused = 0;  // present buckets that are victims now, and will not be
  for (std::uint64_t bucket = buckets.first; bucket < buckets.end(); ++bucket) {
    const RegionNumber region = peer.table.find({bucket, 1});
    if (region == kNoRegion) {
      wanted.push_back(bucket);
    } else {
      present.push_back(region);
      if (!peer.table.is_used(region)) ++unused;
    }
  }
  if (peer.table.regions() - peer.table.unused_regions() + unused + wanted.size() > each_) {
    ++counters_.refused;
    return {Held::refused, std::nullopt};
  }

  for (const RegionNumber each : present) peer.table.use(each);
  Answer answer{Held::waits, std::nullopt};
  std::vector<RegionNumber> awaited;
  std::copy_if(present.begin(), present.end(), std::back_inserter(awaited),
               [&](RegionNumber each) { return peer.buckets[each].on_its_way; });
  if (!wanted.empty()) {
    answer.request = ask(peer, wanted);
    const std::vector<RegionNumber>& asked = peer.requests.at(answer.request->number);
    awaited.insert(awaited.end(), asked.begin(), asked.end());
    ++counters_.misses;
  } else if (!awaited.empty()) {
    ++counters_.attached;
  } else {
    ++counters_.hits;
    answer.held = Held::all;
    return answer;
  }
  for (const RegionNumber each : awaited) peer.buckets[each].waiting.push_back(waited_);
  waits_.emplace(waited_++, Waiting{operation, awaited.size()});
  return answer;
}

MoveRequest RemoteFirehoses::ask(Peer& peer, const std::vector<std::uint64_t>& wanted) {
  MoveRequest request{peer.requested++, {}, wanted};
  while (peer.table.regions() + wanted.size() > each_) {
    const RegionNumber victim = peer.table.oldest_unused();
    request.given_up.push_back(peer.table.pages(victim).first);
    peer.table.erase(victim);
  }
  std::vector<RegionNumber>& asked = peer.requests[request.number];
  for (const std::uint64_t bucket : wanted) {
    const RegionNumber region = peer.table.insert({bucket, 1});
    if (region >= peer.buckets.size()) peer.buckets.resize(region + std::size_t{1});
    peer.buckets[region].on_its_way = true;
    asked.push_back(region);
  }
  counters_.moved += wanted.size();
  counters_.given_up += request.given_up.size();
  return request;
}

std::vector<RemoteFirehoses::Operation> RemoteFirehoses::moved(Rank owner, const MoveReply& reply) {
  Peer& peer = peers_[owner];
  const auto request = peer.requests.find(reply.number);
  if (request == peer.requests.end()) {
    throw UsageError("firehose: reply " + std::to_string(reply.number) + " of rank " +
                     std::to_string(static_cast<std::uint32_t>(owner)) +
                     " answers nothing that is under way; each "
                     "request has one reply");
  }
  std::vector<std::uint64_t> complete;
  for (const RegionNumber each : request->second) {
    Bucket& bucket = peer.buckets[each];
    bucket.on_its_way = false;
    for (const std::uint64_t waiting : bucket.waiting) {
      if (--waits_.at(waiting).missing == 0) complete.push_back(waiting);
    }
    bucket.waiting.clear();
  }
  peer.requests.erase(request);
  std::sort(complete.begin(), complete.end());
  std::vector<Operation> operations;
  for (const std::uint64_t each : complete) {
    operations.push_back(waits_.at(each).operation);
    waits_.erase(each);
  }
  return operations;
}

void RemoteFirehoses::release(Rank owner, const Pages& buckets) {
  Peer& peer = peers_[owner];
  std::vector<RegionNumber> regions;
  for (std::uint64_t bucket = buckets.first; bucket < buckets.end(); ++bucket) {
    const RegionNumber region = peer.table.find({bucket, 1});
    if (region == kNoRegion || !peer.table.is_used(region)) {
      throw UsageError(name_of(owner, bucket) + " is released, which nobody uses; release each use once");
    }
    if (peer.buckets[region].on_its_way) {
      throw UsageError(name_of(owner, bucket) + " is released, which is on its way; release what is held");
    }
    regions.push_back(region);
  }
  for (const RegionNumber each : regions) peer.table.release(each);
}

bool RemoteFirehoses::has(Rank owner, std::uint64_t bucket) const {
  const auto peer = peers_.find(owner);
  return peer != peers_.end() && peer->second.table.find({bucket, 1}) != kNoRegion;
}

std::uint64_t RemoteFirehoses::held(Rank owner) const {
  const auto peer = peers_.find(owner);
  return peer == peers_.end() ? 0 : peer->second.table.regions();
}

}  // namespace gasmeter::services

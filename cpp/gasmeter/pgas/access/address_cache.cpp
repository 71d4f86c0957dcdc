#include "gasmeter/pgas/access/address_cache.hpp"

#include <algorithm>

namespace gasmeter::pgas {
namespace {

constexpr std::size_t kFirstBuckets = 16;

}  // namespace

void AddressCache::grow() {
  const std::size_t many = buckets_.empty() ? kFirstBuckets : 2 * buckets_.size();
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(many));
  buckets_.assign(many, kEnd);
  nodes_.reserve(std::min<std::size_t>(many, capacity_));
  for (std::uint32_t at = newest_; at != kEnd; at = nodes_[at].older) {
    std::uint32_t& bucket = buckets_[bucket_of(nodes_[at].entry.key)];
    nodes_[at].chain = bucket;
    bucket = at;
  }
}

bool AddressCache::insert(const Entry& entry) {
  if (const Entry* const present = find(entry.key)) {
    *const_cast<Entry*>(present) = entry;
    return false;
  }
  const bool evicts = size_ == capacity_;
  if (evicts) remove(victim());
  if (buckets_.empty() || (free_ == kEnd && nodes_.size() == buckets_.size())) grow();
  std::uint32_t at = free_;
  if (at != kEnd) {
    free_ = nodes_[at].chain;
  } else {
    at = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  }
  nodes_[at].entry = entry;
  std::uint32_t& bucket = buckets_[bucket_of(entry.key)];
  nodes_[at].chain = bucket;
  bucket = at;
  link_newest(at);
  ++size_;
  return evicts;
}

std::uint32_t AddressCache::erase(std::uint64_t object) {
  const std::uint32_t before = size_;
  for (std::uint32_t at = newest_; at != kEnd;) {
    const std::uint32_t older = nodes_[at].older;
    if (nodes_[at].entry.key.object == object) remove(at);
    at = older;
  }
  return before - size_;
}

// Return the entry to evict. Random replacement may pick any node, since all are in use when the cache is full.
std::uint32_t AddressCache::victim() {
  if (replacement_ == Replacement::lru) return oldest_;
  random_ = splitmix64(random_);
  return static_cast<std::uint32_t>((random_ >> 32) % nodes_.size());
}

void AddressCache::remove(std::uint32_t at) {
  std::uint32_t* link = &buckets_[bucket_of(nodes_[at].entry.key)];
  while (*link != at) link = &nodes_[*link].chain;
  *link = nodes_[at].chain;
  unlink(at);
  nodes_[at].chain = free_;
  free_ = at;
  --size_;
}

void AddressCache::unlink(std::uint32_t at) {
  const Node& node = nodes_[at];
  (node.newer == kEnd ? newest_ : nodes_[node.newer].older) = node.older;
  (node.older == kEnd ? oldest_ : nodes_[node.older].newer) = node.newer;
}

void AddressCache::link_newest(std::uint32_t at) {
  nodes_[at].newer = kEnd;
  nodes_[at].older = newest_;
  (newest_ == kEnd ? oldest_ : nodes_[newest_].newer) = at;
  newest_ = at;
}

void AddressCache::make_newest(std::uint32_t at) {
  unlink(at);
  link_newest(at);
}

}  // namespace gasmeter::pgas

#include "gasmeter/networks/ibv/am_rings.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::ibv {

namespace {

constexpr unsigned kMostDepth = 32;

// A peer's ring is one piece of the pool.
unsigned rings_of(unsigned ranks, const RingLimits& limits) {
  if (limits.peers == 0) return 0;
  if (!std::has_single_bit(limits.depth) || limits.depth > kMostDepth || limits.cycle == 0) {
    throw UsageError("ibv: rings of " + std::to_string(limits.depth) + " slots, looked for every " +
                     std::to_string(limits.cycle) + " messages; powers of two of 1.." + std::to_string(kMostDepth) +
                     " and 1 or more are allowed");
  }
  return std::min(limits.peers, ranks - 1);
}

}  // namespace

// Count zero bytes a word at a time. A byte's low seven bits plus 0x7f set the eighth bit unless they are all 0.
unsigned zero_bytes(const std::byte* at, Bytes bytes) {
  constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7fULL;
  constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
  unsigned sum = 0;
  const auto zeros_of = [](std::uint64_t word) {
    const std::uint64_t marks = ~(((word & kLow) + kLow) | word | kLow);  // 0x80 for each byte that is 0
    return static_cast<unsigned>(((marks >> 7U) * kOnes) >> 56U);
  };
  for (; bytes >= sizeof(std::uint64_t); at += sizeof(std::uint64_t), bytes -= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    sum += zeros_of(word);
  }
  if (bytes != 0) {
    std::uint64_t word = ~std::uint64_t{0};
    std::memcpy(&word, at, bytes);
    sum += zeros_of(word);
  }
  return sum;
}

RingHeader ring_header(const std::byte* message, Bytes bytes, std::uint32_t word) {
  const auto length = static_cast<std::int16_t>(bytes);
  const auto zeros = static_cast<std::int16_t>(zero_bytes(message, bytes) +
                                               zero_bytes(reinterpret_cast<const std::byte*>(&word), sizeof word));
  return {length, length, zeros, zeros, word};
}

// ---- hot peers

HotPeers::HotPeers(unsigned ranks, unsigned most, unsigned cycle)
    : most_(most), cycle_(cycle), counts_(most == 0 ? 0 : ranks) {}

// Halve all counts, and raise those of the chosen peers by half the floor: a peer that pauses stays hot for a while.
// Among peers with equal counts the lower rank comes first.
std::span<const Rank> HotPeers::count(Rank peer) {
  hot_.clear();
  if (counts_.empty()) return hot_;
  ++counts_[index(peer)];
  if (++messages_ % cycle_ != 0) return hot_;
  candidates_.clear();
  for (std::uint32_t rank = 0; rank < counts_.size(); ++rank) {
    const std::uint32_t before = counts_[rank];
    counts_[rank] -= before / 2;
    if (before >= floor_) candidates_.push_back({counts_[rank], Rank{rank}});
  }
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.count > b.count; });
  if (candidates_.size() >= most_) {
    candidates_.resize(most_);
    floor_ = candidates_.back().count + candidates_.back().count / 2;
  }
  for (const Candidate& each : candidates_) {
    counts_[index(each.peer)] += floor_ / 2;
    hot_.push_back(each.peer);
  }
  return hot_;
}

// ---- rings

AmRings::AmRings(unsigned ranks, const RingLimits& limits)
    : depth_(limits.depth),
      unpromised_(rings_of(ranks, limits)),
      peers_(ranks),
      hot_(ranks, unpromised_, limits.cycle) {
  if (unpromised_ != 0) slots_.emplace("ibv", unpromised_, limits.depth * kRingSlot);
}

std::span<const Rank> AmRings::count(Rank peer) {
  chosen_.clear();
  for (const Rank hot : hot_.count(peer)) {
    Outgoing& each = peers_[index(hot)];
    if (each.is_promised || unpromised_ == 0) continue;
    each.is_promised = true;
    --unpromised_;
    chosen_.push_back(hot);
  }
  if (unpromised_ == 0) hot_.stop();  // a ring is never taken back
  return chosen_;
}

std::byte* AmRings::grant(Rank peer) {
  std::byte* const ring = slots_->at(slots_->take());
  constexpr RingHeader kFree;
  for (unsigned i = 0; i < depth_; ++i) std::memcpy(ring + i * kRingSlot, &kFree, sizeof kFree);
  granted_.push_back({peer, ring});
  return ring;
}

bool AmRings::is_whole(std::size_t which, const RingHeader& header) const {
  return ring_header(message(which), static_cast<Bytes>(header.length), header.word).zeros == header.zeros;
}

void AmRings::free(std::size_t which) {
  constexpr RingHeader kFree;
  std::memcpy(slot(which), &kFree, sizeof kFree);
  ++granted_[which].head;
}

void AmRings::granted_by(Rank peer, const RingGrant& grant) {
  const std::uint64_t address = grant.low | std::uint64_t{grant.high} << 32U;
  peers_[index(peer)].ring = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
}

std::byte* AmRings::take(Rank peer, Bytes bytes) {
  Outgoing& to = peers_[index(peer)];
  if (to.ring == nullptr || bytes > kMostRinged || to.tail - to.freed == depth_) return nullptr;
  return to.ring + (to.tail++ & (depth_ - 1)) * kRingSlot;
}

}  // namespace gasmeter::networks::ibv

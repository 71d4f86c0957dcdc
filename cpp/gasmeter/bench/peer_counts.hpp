// Counts, at a rank, of events with each of its peers. Thousands of ranks may live in one process, and most have met
// few peers: memory grows with the peers that were met, and never exceeds four bytes for each that exists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace gasmeter::bench {

class PeerCounts {
 public:
  explicit PeerCounts(std::uint32_t peers) : peers_(peers) {
    if (peers_ <= kAlwaysAll) all_.resize(peers_);
  }

  void add(std::uint32_t peer) {
    if (!all_.empty()) {
      ++all_[peer];
      return;
    }
    Met* met = place_of(peer);
    if (met == nullptr || met->count == 0) {
      if (met == nullptr || 2 * (met_ + 1) > places_.size()) {
        grow();
        return add(peer);
      }
      ++met_;
      met->peer = peer;
    }
    ++met->count;
  }
  [[nodiscard]] std::uint32_t operator[](std::uint32_t peer) {
    if (!all_.empty()) return all_[peer];
    const Met* const met = place_of(peer);
    return met != nullptr ? met->count : 0;
  }
  void clear() {
    std::fill(all_.begin(), all_.end(), 0U);
    places_.clear();
    met_ = 0;
  }

 private:
  static constexpr std::uint32_t kAlwaysAll = 64;
  struct Met {
    std::uint32_t peer = 0;
    std::uint32_t count = 0;  // 0: the place is free
  };

  // Return the place of the peer, or a free one for it; null if there are no places.
  [[nodiscard]] Met* place_of(std::uint32_t peer) {
    if (places_.empty()) return nullptr;
    const std::size_t mask = places_.size() - 1;
    std::size_t at = peer & mask;
    while (places_[at].count != 0 && places_[at].peer != peer) at = (at + 1) & mask;
    return &places_[at];
  }
  // Double the places; or make one for every peer where that takes no more memory.
  void grow() {
    const std::vector<Met> before = std::exchange(places_, {});
    const std::size_t places = before.empty() ? kFirstPlaces : 2 * before.size();
    if (places * sizeof(Met) >= peers_ * sizeof(std::uint32_t)) {
      all_.resize(peers_);
      for (const Met& each : before) all_[each.peer] += each.count;
      return;
    }
    places_.resize(places);
    for (const Met& each : before) {
      if (each.count != 0) *place_of(each.peer) = each;
    }
  }
  static constexpr std::size_t kFirstPlaces = 16;

  std::uint32_t peers_;
  std::vector<std::uint32_t> all_;  // by peer; empty while few have been met
  std::vector<Met> places_;         // a power of two; at most half are taken
  std::size_t met_ = 0;
};

}  // namespace gasmeter::bench

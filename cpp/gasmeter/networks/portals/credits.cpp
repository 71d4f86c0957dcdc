#include "gasmeter/networks/portals/credits.hpp"

#include <algorithm>

namespace gasmeter::networks::portals {

namespace {
constexpr std::uint32_t kForgotten = 4;  // divisor of all use counts at the end of an epoch
}

Credits::Peer Credits::fresh(Rank rank) const {
  Peer peer;
  peer.rank = rank;
  peer.may_use = peer.lent = rules_.granted;
  peer.told = epoch_;
  return peer;
}

std::size_t Credits::place_of(Rank rank) const {
  constexpr std::uint32_t kSpread = 2654435761U;  // spreads neighbouring ranks over the table
  const std::size_t last = places_.size() - 1;
  std::size_t place = (index(rank) * kSpread >> 7U) & last;
  while (places_[place] != 0 && peers_[places_[place] - 1].rank != rank) place = (place + 1) & last;
  return place;
}

void Credits::grow() {
  places_.assign(std::max<std::size_t>(8, places_.size() * 2), 0);
  for (std::uint32_t i = 0; i < peers_.size(); ++i) places_[place_of(peers_[i].rank)] = i + 1;
}

Credits::Peer& Credits::find(Rank rank) {
  if (2 * peers_.size() >= places_.size()) grow();
  std::uint32_t& number = places_[place_of(rank)];
  if (number == 0) {
    peers_.push_back(fresh(rank));
    number = static_cast<std::uint32_t>(peers_.size());
  }
  return peers_[number - 1];
}

Credits::Peer Credits::known(Rank rank) const {
  const std::uint32_t number = places_.empty() ? 0 : places_[place_of(rank)];
  return number == 0 ? fresh(rank) : peers_[number - 1];
}

// ---- the sending rank

bool Credits::take(Rank rank, std::uint32_t credits) {
  Peer& peer = find(rank);
  const std::uint32_t free = peer.may_use - peer.in_use;
  if (free < credits) {
    if (peer.missed == 0) ++peer.stalls;
    peer.missed = std::max(peer.missed, credits - free);
    return false;
  }
  peer.in_use += credits;
  peer.recent_most = std::max(peer.recent_most, peer.in_use);
  return true;
}

CreditByte Credits::of_request(Rank rank, std::uint32_t used) {
  Peer& peer = find(rank);
  CreditByte says{tell_epoch(peer), 0, static_cast<std::uint8_t>(used)};
  if (rules_.dynamic && peer.missed != 0) {
    // Credits that were asked for count as held, which bounds the revocations that may arrive at a time.
    says.extra = static_cast<std::uint8_t>(std::min({peer.missed, kMostAsked, kMostHeld - borrowed_}));
    borrowed_ += says.extra;
    if (says.extra != 0) ++counters_.asked;
  }
  peer.missed = 0;
  return says;
}

void Credits::replied(Rank rank, CreditByte reply, std::uint32_t asked) {
  Peer& peer = find(rank);
  peer.in_use -= reply.used;
  peer.may_use += reply.extra;
  borrowed_ -= asked - reply.extra;
  if (!reply.ends_epoch) return;
  peer.stalls /= kForgotten;
  peer.recent_most = std::max(peer.in_use, peer.recent_most / kForgotten);
  peer.given_back /= kForgotten;
}

std::uint32_t Credits::give_back(Rank rank) {
  Peer& peer = find(rank);
  const std::uint32_t kept = std::max({rules_.granted, peer.recent_most, peer.in_use});
  if (peer.stalls != 0 || peer.may_use <= kept || peer.given_back >= kMostRevokedInEpoch) return 0;
  const std::uint32_t given = std::min(peer.may_use - kept, kMostRevokedInEpoch - peer.given_back);
  peer.may_use -= given;
  peer.given_back += given;
  borrowed_ -= std::min(borrowed_, given);
  return given;
}

// ---- the receiving rank

bool Credits::tell_epoch(Peer& peer) {
  const bool tells = peer.told != epoch_;
  peer.told = epoch_;
  return tells;
}

CreditByte Credits::of_reply(Rank rank, CreditByte asked) {
  Peer& peer = find(rank);
  if (++seen_ == kEpoch) end_epoch();
  CreditByte says{tell_epoch(peer), 0, asked.used};
  if (asked.extra == 0) return says;
  peer.wants = true;
  if (bank_ < asked.extra) {
    is_short_ = true;
  } else if (peer.loans + asked.extra <= kMostLentInEpoch) {
    says.extra = asked.extra;
    bank_ -= asked.extra;
    peer.lent += asked.extra;
    peer.loans += asked.extra;
    counters_.lent += asked.extra;
  }
  return says;
}

void Credits::end_epoch() {
  seen_ = 0;
  ++epoch_;
  ++counters_.epochs;
  for (Peer& peer : peers_) {
    peer.loans /= kForgotten;
    peer.wants = peer.refused = false;
  }
}

std::optional<Rank> Credits::next_to_revoke() {
  if (!is_short_ || revocations_ == kRevocationsAtOnce) return std::nullopt;
  for (std::size_t looked = 0; looked < peers_.size(); ++looked) {
    Peer& peer = peers_[scan_ % peers_.size()];
    ++scan_;
    if (peer.lent <= rules_.granted || peer.wants || peer.refused || peer.is_asked) continue;
    peer.is_asked = true;
    ++revocations_;
    return peer.rank;
  }
  is_short_ = false;  // no peer is left to ask; the next message of a rank that lacks credits says so
  return std::nullopt;
}

void Credits::revoked(Rank rank, std::uint32_t credits) {
  Peer& peer = find(rank);
  --revocations_;
  peer.is_asked = false;
  peer.refused = credits == 0;
  peer.lent -= credits;
  bank_ += credits;
  counters_.revoked += credits;
  if (bank_ >= kMostAsked) is_short_ = false;
}

}  // namespace gasmeter::networks::portals

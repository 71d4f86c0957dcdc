// Credits of one rank: how much it may send to its peers, and how much they may send to it. A credit stands for 256 B
// of the receiver's request buffers and for one event.
//
// Static credits: every peer has the same number for ever. Dynamic credits: every peer is granted some, and the rest is
// banked. A sender that lacks credits says so in its next request, and the reply brings them as a loan. If the bank is
// empty, it asks peers that do not use their loans to return them. After an epoch of 1024 received requests, use counts
// fall to a quarter.
//
// The class only computes values. Its user sends and receives them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::portals {

// Source: GASNet's portals-conduit, dynamic_credit_mgnt.txt.
inline constexpr Bytes kCreditBytes = 256;
inline constexpr std::uint32_t kEpoch = 1024;      // requests received
inline constexpr std::uint32_t kMostAsked = 7;     // three bits
inline constexpr std::uint32_t kMostHeld = 400;    // loans of one rank
inline constexpr std::uint32_t kApartCredits = 2;  // of a Long whose payload has a put of its own: one for each event
// Estimates: the paper says that such limits exist, and not how large they are.
inline constexpr std::uint32_t kMostLentInEpoch = 256;  // to one rank
inline constexpr std::uint32_t kMostRevokedInEpoch = 256;
inline constexpr unsigned kRevocationsAtOnce = 16;

[[nodiscard]] constexpr std::uint32_t credits_for(Bytes message) {
  return message <= kCreditBytes ? 1 : static_cast<std::uint32_t>((message + kCreditBytes - 1) / kCreditBytes);
}

// Credit field in the header of every message.
struct CreditByte {
  bool ends_epoch = false;  // an epoch of the sender, as a lender, has ended
  std::uint8_t extra = 0;   // request: credits that it lacked; reply: credits that it lends
  std::uint8_t used = 0;    // by the request

  [[nodiscard]] std::uint8_t packed() const {
    return static_cast<std::uint8_t>((ends_epoch ? 128U : 0U) | (extra & 7U) << 4U | (used & 15U));
  }
  [[nodiscard]] static CreditByte of(std::uint8_t byte) {
    return {(byte & 128U) != 0, static_cast<std::uint8_t>((byte >> 4U) & 7U), static_cast<std::uint8_t>(byte & 15U)};
  }
};

struct CreditRules {
  bool dynamic = true;
  std::uint32_t granted = 8;  // to each peer at first: at least what the largest message needs
  std::uint32_t total = 8;    // of all peers together
  std::uint32_t peers = 1;
};

struct CreditCounters {
  std::uint64_t asked = 0;    // requests that asked for more credits
  std::uint64_t lent = 0;     // credits
  std::uint64_t revoked = 0;  // credits that came back
  std::uint64_t epochs = 0;
};

class Credits {
 public:
  explicit Credits(const CreditRules& rules) : rules_(rules), bank_(rules.total - rules.granted * rules.peers) {}

  // ---- calls of a rank that sends requests
  // Take credits. Return false if there are too few now; the next request then asks for the missing ones.
  [[nodiscard]] bool take(Rank peer, std::uint32_t credits);
  // Return credits that were taken and not used.
  void give(Rank peer, std::uint32_t credits) { find(peer).in_use -= credits; }
  [[nodiscard]] CreditByte of_request(Rank peer, std::uint32_t used);
  // Take the reply to a request that had asked for `asked` more credits.
  void replied(Rank peer, CreditByte reply, std::uint32_t asked);
  // The peer asks for credits that it has lent. Return how many it gets.
  [[nodiscard]] std::uint32_t give_back(Rank peer);

  // ---- calls of a rank that receives requests
  // Take a request. Return the credit field of its reply.
  [[nodiscard]] CreditByte of_reply(Rank peer, CreditByte asked);
  // Return a peer to ask for loans, if credits are missing. The request for them then counts as in flight.
  [[nodiscard]] std::optional<Rank> next_to_revoke();
  void revoked(Rank peer, std::uint32_t credits);

  [[nodiscard]] std::uint32_t bank() const { return bank_; }
  [[nodiscard]] std::uint32_t held(Rank peer) const { return known(peer).may_use; }  // credits of the peer
  [[nodiscard]] std::uint32_t in_use(Rank peer) const { return known(peer).in_use; }
  [[nodiscard]] std::uint32_t lent(Rank peer) const { return known(peer).lent; }  // to the peer, with granted ones
  [[nodiscard]] const CreditCounters& counters() const { return counters_; }

 private:
  struct Peer {
    Rank rank{};
    // Credits of the peer that this rank holds.
    std::uint32_t may_use = 0;
    std::uint32_t in_use = 0;
    std::uint32_t recent_most = 0;  // the most in use at a time, of late
    std::uint32_t stalls = 0;
    std::uint32_t given_back = 0;  // in the peer's present epoch
    std::uint32_t missed = 0;      // by the request that waits
    // Credits of this rank that the peer holds.
    std::uint32_t lent = 0;
    std::uint32_t loans = 0;  // in this epoch
    std::uint32_t told = 0;   // the epoch that the peer knows of
    bool wants = false;       // the peer has asked for credits in this epoch
    bool refused = false;     // the peer has returned nothing in this epoch
    bool is_asked = false;    // a revocation is in flight
  };

  // Find or make the entry of a peer. The reference is valid until the next call.
  [[nodiscard]] Peer& find(Rank peer);
  [[nodiscard]] Peer known(Rank peer) const;
  [[nodiscard]] Peer fresh(Rank peer) const;
  // Return the index in places_ that holds the peer's number, or has to.
  [[nodiscard]] std::size_t place_of(Rank peer) const;
  void grow();
  // Tell whether the next message has to tell the peer of an epoch.
  [[nodiscard]] bool tell_epoch(Peer& peer);
  void end_epoch();

  CreditRules rules_;
  std::uint32_t bank_;
  std::uint32_t borrowed_ = 0;  // from all peers, including credits asked for
  std::uint32_t epoch_ = 0;
  std::uint32_t seen_ = 0;  // requests in this epoch
  bool is_short_ = false;   // the bank could not lend
  unsigned revocations_ = 0;
  std::size_t scan_ = 0;
  std::vector<Peer> peers_;            // peers that this rank has dealt with, in order of first contact
  std::vector<std::uint32_t> places_;  // hash table of numbers in peers_, plus one; 0: empty. At most half full
  CreditCounters counters_;
};

}  // namespace gasmeter::networks::portals

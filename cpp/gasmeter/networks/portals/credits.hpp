// Credits of one rank: what it may send to others, and what others may send to it. One stands for 256 B of its
// receiver's request buffers and for an event there.
//
// Static: everybody has as many, for ever. Dynamic: everybody is granted some, the rest is banked. Who misses credits
// says so in its next request; the reply brings them as a loan. Where the bank is empty, loans of those that do not use
// them are asked back. Uses are forgotten in epochs: a quarter of them is left after 1024 requests that were received.
// Values alone: whoever has this carries what it says.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::portals {

// GASNet's portals-conduit, dynamic_credit_mgnt.txt (protocol_constants.csv).
inline constexpr Bytes kCreditBytes = 256;
inline constexpr std::uint32_t kEpoch = 1024;      // requests received
inline constexpr std::uint32_t kMostAsked = 7;     // three bits
inline constexpr std::uint32_t kMostHeld = 400;    // loans of one rank
inline constexpr std::uint32_t kApartCredits = 2;  // of a Long whose payload comes apart: an event each
// Estimates: the paper says that there are such limits, and not how large they are.
inline constexpr std::uint32_t kMostLentInEpoch = 256;  // to one rank
inline constexpr std::uint32_t kMostRevokedInEpoch = 256;
inline constexpr unsigned kRevocationsAtOnce = 16;

[[nodiscard]] constexpr std::uint32_t credits_for(Bytes message) {
  return message <= kCreditBytes ? 1 : static_cast<std::uint32_t>((message + kCreditBytes - 1) / kCreditBytes);
}

// In the header of every message.
struct CreditByte {
  bool ends_epoch = false;  // of its sender, as one who lends
  std::uint8_t extra = 0;   // a request: so many more would have let it go at once; a reply: lent
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
  std::uint32_t granted = 8;  // to each peer at first: as many as the largest message needs, or more
  std::uint32_t total = 8;    // of all peers
  std::uint32_t peers = 1;
};

struct CreditCounters {
  std::uint64_t asked = 0;    // requests that asked for more
  std::uint64_t lent = 0;     // credits
  std::uint64_t revoked = 0;  // credits that came back
  std::uint64_t epochs = 0;
};

class Credits {
 public:
  explicit Credits(const CreditRules& rules) : rules_(rules), bank_(rules.total - rules.granted * rules.peers) {}

  // ---- of a rank that sends requests
  // False: there are not so many now; what is missed is asked for by the next request.
  [[nodiscard]] bool take(Rank peer, std::uint32_t credits);
  // That were taken and are not used.
  void give(Rank peer, std::uint32_t credits) { find(peer).in_use -= credits; }
  [[nodiscard]] CreditByte of_request(Rank peer, std::uint32_t used);
  // The reply to one has come, which had asked for so many more.
  void replied(Rank peer, CreditByte said, std::uint32_t asked);
  // The peer asks for what it has lent: how many it gets.
  [[nodiscard]] std::uint32_t give_back(Rank peer);

  // ---- of the rank that they are sent to
  // A request has come: what its reply says.
  [[nodiscard]] CreditByte of_reply(Rank peer, CreditByte asked);
  // Whom to ask for loans, since some are missed; that is then under way.
  [[nodiscard]] std::optional<Rank> next_to_revoke();
  void revoked(Rank peer, std::uint32_t credits);

  [[nodiscard]] std::uint32_t bank() const { return bank_; }
  [[nodiscard]] std::uint32_t held(Rank peer) const { return known(peer).may_use; }  // of the peer's
  [[nodiscard]] std::uint32_t in_use(Rank peer) const { return known(peer).in_use; }
  [[nodiscard]] std::uint32_t lent(Rank peer) const { return known(peer).lent; }  // to the peer, granted ones too
  [[nodiscard]] const CreditCounters& counters() const { return counters_; }

 private:
  struct Peer {
    Rank rank{};
    // of ours at it
    std::uint32_t may_use = 0;
    std::uint32_t in_use = 0;
    std::uint32_t recent_most = 0;  // in use
    std::uint32_t stalls = 0;
    std::uint32_t given_back = 0;  // in this epoch of the peer's
    std::uint32_t missed = 0;      // by the request that waits
    // of its at us
    std::uint32_t lent = 0;
    std::uint32_t loans = 0;  // in this epoch
    std::uint32_t told = 0;   // the epoch that it knows of
    bool wants = false;       // has asked in this epoch
    bool refused = false;     // has given nothing back in this epoch
    bool is_asked = false;    // a revocation is under way
  };

  // Until the next one is found.
  [[nodiscard]] Peer& find(Rank peer);
  [[nodiscard]] Peer known(Rank peer) const;
  [[nodiscard]] Peer fresh(Rank peer) const;
  // Where the rank's number among peers_ is in places_, or has to be.
  [[nodiscard]] std::size_t place_of(Rank peer) const;
  void grow();
  // Whether the peer has to be told of an epoch.
  [[nodiscard]] bool tell_epoch(Peer& peer);
  void end_epoch();

  CreditRules rules_;
  std::uint32_t bank_;
  std::uint32_t borrowed_ = 0;  // from all peers, or asked for
  std::uint32_t epoch_ = 0;
  std::uint32_t seen_ = 0;  // requests in it
  bool is_short_ = false;   // the bank could not lend
  unsigned revocations_ = 0;
  std::size_t scan_ = 0;
  std::vector<Peer> peers_;  // those that this rank has to do with, as they came
  std::vector<std::uint32_t>
      places_;  // of their numbers and one, by a rank's hash; 0: none. At most half of it is used
  CreditCounters counters_;
};

}  // namespace gasmeter::networks::portals

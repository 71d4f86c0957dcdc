// Conservation of credits. Ranks ask for credits, lend and revoke them, and messages arrive in any order: no credit is
// created or lost.
#include "gasmeter/networks/portals/credits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "support/effort.hpp"

namespace gasmeter::networks::portals::credits_test {
namespace {

constexpr Rank kPeer{1};

CreditRules rules(std::uint32_t granted, std::uint32_t total, std::uint32_t peers, bool dynamic = true) {
  return {.dynamic = dynamic, .granted = granted, .total = total, .peers = peers};
}

std::uint32_t random(std::uint64_t& state, std::uint32_t below) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return static_cast<std::uint32_t>(state >> 33U) % below;
}

// All ranks of a job, and the messages between them. Any message may arrive next.
class Job {
 public:
  Job(std::uint32_t ranks, std::uint32_t granted, std::uint32_t reserve, std::uint64_t seed)
      : granted_(granted), total_(granted * ranks + reserve), state_(seed) {
    for (std::uint32_t i = 0; i < ranks; ++i) ranks_.emplace_back(rules(granted, total_, ranks));
  }

  void step(std::uint32_t busy) {
    if (random(state_, 2) == 0) {
      // Most requests of a rank go to the same peer.
      const std::uint32_t from = random(state_, 8) == 0 ? random(state_, size()) : busy;
      const std::uint32_t to = random(state_, 4) == 0 ? random(state_, size()) : size() - 1;
      send(from, to, 1 + random(state_, 8));
    } else if (!messages_.empty()) {
      const std::size_t which = random(state_, static_cast<std::uint32_t>(messages_.size()));
      const Message message = messages_[which];
      messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(which));
      deliver(message);
    }
  }
  void drain() {
    while (!messages_.empty()) {
      const Message message = messages_.front();
      messages_.pop_front();
      deliver(message);
    }
  }

  // The credits that a lender has lent to a peer are held by that peer, or travel between both.
  void check() const {
    for (std::uint32_t lender = 0; lender < size(); ++lender) {
      std::uint32_t lent = 0;
      for (std::uint32_t peer = 0; peer < size(); ++peer) {
        std::uint32_t held = ranks_[peer].held(Rank{lender});
        for (const Message& each : messages_) {
          const bool is_loan = each.kind == Message::reply && each.from == lender && each.to == peer;
          const bool is_return = each.kind == Message::given_back && each.from == peer && each.to == lender;
          if (is_loan) held += each.byte.extra;
          if (is_return) held += each.credits;
        }
        REQUIRE(ranks_[lender].lent(Rank{peer}) == held);
        REQUIRE(ranks_[peer].in_use(Rank{lender}) <= ranks_[peer].held(Rank{lender}));
        REQUIRE(ranks_[peer].held(Rank{lender}) >= granted_);
        lent += held;
      }
      REQUIRE(lent + ranks_[lender].bank() == total_);
    }
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(ranks_.size()); }
  [[nodiscard]] const Credits& at(std::uint32_t rank) const { return ranks_[rank]; }
  [[nodiscard]] std::uint64_t most_on_the_way() const { return most_revocations_; }

 private:
  struct Message {
    enum Kind : std::uint8_t { request, reply, revocation, given_back } kind{};
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    CreditByte byte{};
    std::uint32_t asked = 0;
    std::uint32_t credits = 0;
  };

  void send(std::uint32_t from, std::uint32_t to, std::uint32_t credits) {
    if (!ranks_[from].take(Rank{to}, credits)) return;
    const CreditByte byte = ranks_[from].of_request(Rank{to}, credits);
    CHECK(CreditByte::of(byte.packed()).packed() == byte.packed());
    messages_.push_back({Message::request, from, to, byte, byte.extra, 0});
  }
  void deliver(const Message& message) {
    Credits& receiver = ranks_[message.to];
    const Rank from{message.from};
    switch (message.kind) {
      case Message::request: {
        const CreditByte says = receiver.of_reply(from, message.byte);
        messages_.push_back({Message::reply, message.to, message.from, says, message.asked, 0});
        while (const auto who = receiver.next_to_revoke()) {
          messages_.push_back({Message::revocation, message.to, index(*who), {}, 0, 0});
        }
        break;
      }
      case Message::reply:
        receiver.replied(from, message.byte, message.asked);
        break;
      case Message::revocation:
        messages_.push_back({Message::given_back, message.to, message.from, {}, 0, receiver.give_back(from)});
        break;
      case Message::given_back:
        receiver.revoked(from, message.credits);
        break;
    }
    // Revocations that may wait at one rank, until it looks at their queue.
    std::vector<std::uint64_t> waiting(size());
    for (const Message& each : messages_) waiting[each.to] += each.kind == Message::revocation ? 1 : 0;
    most_revocations_ = std::max(most_revocations_, *std::max_element(waiting.begin(), waiting.end()));
  }

  std::uint32_t granted_;
  std::uint32_t total_;
  std::uint64_t state_;
  std::vector<Credits> ranks_;
  std::deque<Message> messages_;
  std::uint64_t most_revocations_ = 0;
};

TEST_CASE("portals credits: a message takes as many as its bytes need") {
  CHECK(credits_for(0) == 1);
  CHECK(credits_for(256) == 1);
  CHECK(credits_for(257) == 2);
  CHECK(credits_for(2048) == 8);
}

TEST_CASE("portals credits: who misses some asks with the next request, and is lent them with its reply") {
  Credits sender(rules(8, 16, 2));
  Credits lender(rules(8, 8 * 2 + 10, 2));
  REQUIRE(sender.take(kPeer, 8));
  CHECK_FALSE(sender.take(kPeer, 3));
  CHECK_FALSE(sender.take(kPeer, 3));  // the same request tries again
  sender.give(kPeer, 8);
  REQUIRE(sender.take(kPeer, 3));
  const CreditByte asks = sender.of_request(kPeer, 3);
  CHECK(asks.extra == 3);
  const CreditByte says = lender.of_reply(Rank{0}, asks);
  CHECK(says.extra == 3);
  CHECK(lender.bank() == 7);
  sender.replied(kPeer, says, asks.extra);
  CHECK(sender.held(kPeer) == 11);
  CHECK(sender.in_use(kPeer) == 0);
  CHECK(sender.of_request(kPeer, 1).extra == 0);
}

TEST_CASE("portals credits: static ones are neither asked for nor lent") {
  Credits sender(rules(8, 16, 2, false));
  REQUIRE(sender.take(kPeer, 8));
  CHECK_FALSE(sender.take(kPeer, 1));
  CHECK(sender.of_request(kPeer, 8).extra == 0);
}

TEST_CASE("portals credits: an empty bank has loans asked back from who does not use them") {
  Credits lender(rules(8, 8 * 3 + 7, 3));
  Credits idle(rules(8, 24, 3));
  REQUIRE(idle.take(kPeer, 8));
  CHECK_FALSE(idle.take(kPeer, 7));
  const CreditByte asks = idle.of_request(kPeer, 8);
  idle.replied(kPeer, lender.of_reply(Rank{2}, asks), asks.extra);
  REQUIRE(lender.bank() == 0);
  REQUIRE(idle.held(kPeer) == 15);
  CHECK(lender.of_reply(Rank{0}, {.ends_epoch = false, .extra = 5, .used = 1}).extra == 0);
  CHECK_FALSE(lender.next_to_revoke());  // the peer has asked in this epoch, and so has the other
  for (std::uint32_t i = 0; i < kEpoch; ++i)
    (void)lender.of_reply(Rank{1}, {.ends_epoch = false, .extra = 0, .used = 1});
  CHECK(lender.of_reply(Rank{0}, {.ends_epoch = false, .extra = 5, .used = 1}).extra == 0);
  const auto asked = lender.next_to_revoke();
  REQUIRE(asked);
  CHECK(*asked == Rank{2});
  CHECK(idle.give_back(kPeer) == 0);  // the peer has stalled of late
  idle.replied(kPeer, {.ends_epoch = true, .extra = 0, .used = 0}, 0);
  CHECK(idle.give_back(kPeer) == 7);
  lender.revoked(Rank{2}, 7);
  CHECK(lender.bank() == 7);
  CHECK(lender.of_reply(Rank{0}, {.ends_epoch = false, .extra = 5, .used = 1}).extra == 5);
}

TEST_CASE("portals credits: none is made and none is lost, in whatever order messages come") {
  std::uint64_t lent = 0;
  std::uint64_t revoked = 0;
  for (std::uint64_t seed = 0; seed < std::max<std::uint64_t>(3, testing::rounds(20)); ++seed) {
    CAPTURE(seed);
    Job job(6, 8, 24, seed);
    for (std::uint32_t i = 0; i < 100000; ++i) {
      job.step(i / 20000);  // the busy rank changes
      if (i % 200 == 0) job.check();
    }
    job.drain();
    job.check();
    CHECK(job.most_on_the_way() <= 6);
    for (std::uint32_t rank = 0; rank < job.size(); ++rank) {
      lent += job.at(rank).counters().lent;
      revoked += job.at(rank).counters().revoked;
    }
  }
  CHECK(lent > 0);
  CHECK(revoked > 0);
}

}  // namespace
}  // namespace gasmeter::networks::portals::credits_test

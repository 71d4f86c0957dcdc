// Active messages by RDMA: the grant of rings, the contents of slots, and the conduit with rings. tests/golden/ibv.md
// derives the times. The conformance suite runs family ibv with rings of two slots, and without rings.
#include "gasmeter/networks/ibv/am_rings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/ibv/conduit_job.hpp"
#include "support/conduit_calls.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::ibv::am_rings_test {
namespace {

using namespace testing;
using conduit::AmView;
using conduit::Category;
using gasmeter::testing::has_pattern;
using gasmeter::testing::header_to;
using gasmeter::testing::Sink;
using gasmeter::testing::try_send;
using gasmeter::testing::wait;
using gasmeter::testing::write_pattern;

constexpr IbvLimits kRings{.rings = {.peers = 2, .depth = 4, .cycle = 1}};
constexpr IbvLimits kNoRings{.rings = {.peers = 0}};
constexpr SimTime kLong{200'000'000};

// ---- slots

TEST_CASE("ibv_rings_count_the_bytes_that_are_zero") {
  std::mt19937_64 random(1);
  for (Bytes bytes = 0; bytes <= 70; ++bytes) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<std::byte> memory(bytes + 8);
      for (std::byte& each : memory) each = static_cast<std::byte>(random() % 3 == 0 ? random() : (random() % 2) * 128);
      const std::byte* const from = memory.data() + repeat % 8;
      CHECK(zero_bytes(from, bytes) == static_cast<unsigned>(std::count(from, from + bytes, std::byte{0})));
    }
  }
}

TEST_CASE("ibv_rings_know_a_message_that_is_there_as_a_whole") {
  AmRings rings(2, {.peers = 1, .depth = 2, .cycle = 1});
  CHECK(rings.count(Rank{1}).size() == 1);
  std::byte* const slot = rings.grant(Rank{1});
  CHECK_FALSE(rings.header(0).is_set());
  std::vector<std::byte> message(100);
  write_pattern(message.data(), message.size(), 3);
  const RingHeader header = ring_header(message.data(), message.size(), 77);
  std::memcpy(slot, &header, sizeof header);
  for (const Bytes seen : {Bytes{0}, Bytes{1}, Bytes{99}}) {
    std::memcpy(slot + sizeof header, message.data(), seen);
    CAPTURE(seen);
    CHECK(rings.header(0).is_set());
    CHECK_FALSE(rings.is_whole(0, rings.header(0)));
  }
  std::memcpy(slot + sizeof header, message.data(), message.size());
  CHECK(rings.is_whole(0, rings.header(0)));
  std::memset(slot + sizeof header, 0, message.size());
  rings.free(0);
  CHECK(rings.message(0) == slot + kRingSlot + sizeof header);
  CHECK_FALSE(rings.header(0).is_set());
}

TEST_CASE("ibv_rings_have_so_many_slots_in_turn") {
  AmRings rings(2, {.peers = 1, .depth = 4, .cycle = 1});
  CHECK(rings.take(Rank{1}, 8) == nullptr);  // no ring was granted
  std::vector<std::byte> arrival(4 * kRingSlot);
  const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(arrival.data())};
  rings.granted_by(Rank{1},
                   {.low = static_cast<std::uint32_t>(address), .high = static_cast<std::uint32_t>(address >> 32U)});
  CHECK(rings.take(Rank{1}, kMostRinged + 1) == nullptr);
  for (unsigned i = 0; i < 4; ++i) CHECK(rings.take(Rank{1}, kMostRinged) == arrival.data() + i * kRingSlot);
  CHECK(rings.take(Rank{1}, 0) == nullptr);
  rings.acknowledged(Rank{1}, 2);
  for (unsigned i = 0; i < 2; ++i) CHECK(rings.take(Rank{1}, 0) == arrival.data() + i * kRingSlot);
  CHECK(rings.take(Rank{1}, 0) == nullptr);
}

TEST_CASE("ibv_rings_of_slots_that_are_no_power_of_two_are_refused") {
  for (const unsigned depth : {0U, 3U, 12U, 64U}) {
    CAPTURE(depth);
    CHECK_THROWS_AS(AmRings(2, {.peers = 1, .depth = depth}), UsageError);
  }
  CHECK_THROWS_AS(AmRings(2, {.peers = 1, .cycle = 0}), UsageError);
  CHECK(AmRings(2, {.peers = 0, .depth = 3}).memory().empty());  // the conduit has no rings
  CHECK(AmRings(1, {}).memory().empty());
  CHECK(AmRings(4, {}).memory().size() == 3 * 16 * kRingSlot);
  CHECK(AmRings(1000, {}).memory().size() == 32 * 16 * kRingSlot);
}

// ---- hot peers

std::vector<Rank> after(HotPeers& peers, const std::vector<unsigned>& messages) {
  std::vector<Rank> hot;
  for (std::uint32_t rank = 0; rank < messages.size(); ++rank) {
    for (unsigned i = 0; i < messages[rank]; ++i) {
      const auto chosen_now = peers.count(Rank{rank});
      hot.insert(hot.end(), chosen_now.begin(), chosen_now.end());
    }
  }
  return hot;
}

TEST_CASE("ibv_hot_peers_are_those_of_most_messages") {
  HotPeers peers(4, 2, 10);
  CHECK(after(peers, {0, 5, 1, 3}).empty());  // nine messages
  CHECK(after(peers, {0, 0, 0, 1}) == std::vector{Rank{1}, Rank{3}});
  HotPeers alike(4, 2, 4);
  CHECK(after(alike, {1, 1, 1, 1}) == std::vector{Rank{0}, Rank{1}});
  HotPeers few(4, 3, 4);
  CHECK(after(few, {0, 0, 4, 0}) == std::vector{Rank{2}});
}

// Counts 8 and 4 are halved to 4 and 2. The floor is then 2 + 1 = 3, and the chosen peers get 1 more: 5 and 3. After 6
// messages of rank 0 and 6 of rank 3, rank 2 still has 3, halved to 2. Ranks 1, 0 and 3 have 3 each, and the lower
// ranks 0 and 1 come first.
TEST_CASE("ibv_hot_peers_stay_hot_for_a_while") {
  HotPeers peers(4, 2, 12);
  CHECK(after(peers, {0, 8, 4, 0}) == std::vector{Rank{1}, Rank{2}});
  CHECK(after(peers, {6, 0, 0, 6}) == std::vector{Rank{0}, Rank{1}});
}

TEST_CASE("ibv_rings_are_given_once_and_while_there_are_any") {
  AmRings rings(5, {.peers = 2, .depth = 1, .cycle = 4});
  const auto grown = [&](const std::vector<unsigned>& messages) {
    std::vector<Rank> chosen;
    for (std::uint32_t rank = 0; rank < messages.size(); ++rank) {
      for (unsigned i = 0; i < messages[rank]; ++i) {
        const auto chosen_now = rings.count(Rank{rank});
        chosen.insert(chosen.end(), chosen_now.begin(), chosen_now.end());
      }
    }
    return chosen;
  };
  CHECK(grown({0, 4}) == std::vector{Rank{1}});
  CHECK(grown({0, 2, 2}) == std::vector{Rank{2}});
  CHECK(grown({0, 0, 0, 40}).empty());
}

// ---- the conduit

conduit::AmHeader reply_to(unsigned peer, Category category, unsigned arguments = 0) {
  return header_to(peer, category, arguments, true);
}

void settle(IbvConduit& conduit, sim::ModelHost host, Sink& sink, SimTime end) {
  while (host.now() < end) {
    if (conduit.poll(sink, 16, conduit::PollFilter::everything) == 0) host.idle(end);
  }
}

// Answer every request at a rank until `end`.
void answer(Job& job, unsigned rank, SimTime end) {
  Sink sink([&](const AmView& request) {
    if (!request.is_request) return;
    CHECK(try_send(*job.conduits[rank], reply_to(index(request.source), Category::short_message)) == Status::ok);
  });
  settle(*job.conduits[rank], job.host(rank), sink, end);
}

TEST_CASE("ibv_conduit_short_and_its_reply_by_rings") {
  const IbvParameters parameters{.instruction = {1'000}};
  const std::int64_t send = parameters.ring_send(4).ps;
  const std::int64_t take = parameters.ring_take(4).ps;
  const std::int64_t poll = 10'000 + parameters.ring_look().ps;
  const auto waited = [&](SimTime from, SimTime until) {
    return (until - from).ps - 1 + poll - ((until - from).ps - 1) % poll;
  };
  for (const bool strict : {false, true}) {
    Job job({.strict = strict}, kRings, parameters);
    SimTime posted;  // time at which the sender begins
    SimTime answered;
    job.engine.start(Rank{0}, [&] {
      sim::ModelHost host = job.host(0);
      Sink sink;
      CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
      settle(*job.conduits[0], host, sink, kLong);
      CHECK(sink.messages == 1);
      CHECK(job.conduits[0]->granted_rings() == 1);
      CHECK(job.context(0).counters().ringed == 0);
      posted = host.now();
      CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
      CHECK((host.now() - posted).ps == 140'000 + send);
      CHECK(job.context(0).counters().ringed == 1);
      const SimTime from = host.now();
      Sink reply([&](const AmView& message) {
        CHECK_FALSE(message.is_request);
        // The acknowledgement of the rank's own write wakes it first: 100 to take it, a miss of 10 and a look.
        const SimTime acknowledged{posted.ps + send + 1'224'000};
        const SimTime again{from.ps + waited(from, acknowledged) + 110'000 + parameters.ring_look().ps};
        const SimTime arrival{answered.ps + send + 796'000};
        CHECK((host.now() - again).ps == waited(again, arrival) + 100'000 + take);
      });
      wait(*job.conduits[0], host, reply, [&] { return reply.messages == 1; });
    });
    job.engine.start(Rank{1}, [&] {
      sim::ModelHost host = job.host(1);
      answer(job, 1, kLong);
      CHECK(job.conduits[1]->granted_rings() == 1);
      const SimTime from = host.now();
      Sink sink([&](const AmView&) {
        const SimTime arrival{posted.ps + send + 796'000};
        CHECK((host.now() - from).ps == waited(from, arrival) + 100'000 + take);
        answered = host.now();
        CHECK(try_send(*job.conduits[1], reply_to(0, Category::short_message)) == Status::ok);
        CHECK((host.now() - answered).ps == 140'000 + send);
      });
      wait(*job.conduits[1], host, sink, [&] { return sink.messages == 1; });
      CHECK(job.context(1).counters().ringed == 1);
    });
    job.engine.run();
    CHECK(job.context(1).counters().not_ready == 0);
  }
}

struct Flow {
  std::uint64_t ringed = 0;
  std::uint64_t hidden = 0;
  std::size_t rings = 0;  // of both ranks
  std::vector<SimTime> clocks;
};

// Rank 0 sends messages of all kinds and sizes to rank 1, which answers every second one. Each message carries its
// number for the check, since messages by rings overtake sends.
Flow stream(const IbvLimits& limits, unsigned count, bool strict = false, unsigned threads = 1) {
  constexpr unsigned kPlaces = 100;  // more than a message is ever behind others
  Job job({.strict = strict, .threads = threads}, limits, {}, kPlaces * 20'000);
  const std::array<Bytes, 8> sizes{0, 1, 100, 300, 1000, 4000, 4016, 20'000};
  const auto size_of = [&](unsigned i) { return sizes[i % sizes.size()]; };
  const auto send = [&](unsigned from, unsigned i, bool is_reply) {
    const bool is_long = size_of(i) > kMostMedium || (!is_reply && i % 3 == 2);
    std::vector<std::byte> payload(size_of(i));
    write_pattern(payload.data(), payload.size(), i);
    const std::array number{static_cast<std::int32_t>(i)};
    return try_send(*job.conduits[from],
                    header_to(1 - from, is_long ? Category::long_message : Category::medium, 1, is_reply), number,
                    payload, job.segments[1 - from].data() + (i % kPlaces) * 20'000);
  };
  const auto checked = [&](const AmView& message, std::vector<bool>& seen) {
    REQUIRE(message.arguments.size() == 1);
    const auto i = static_cast<unsigned>(message.arguments[0]);
    REQUIRE(i < count);
    CHECK_FALSE(seen[i]);
    seen[i] = true;
    CHECK(message.size == size_of(i));
    CHECK(has_pattern(message.payload, message.size, i));
    if (message.category == Category::medium) CHECK(reinterpret_cast<std::uintptr_t>(message.payload) % 16 == 0);
    return i;
  };
  job.engine.start(Rank{0}, [&] {
    std::vector<bool> seen(count);
    Sink sink([&](const AmView& reply) {
      CHECK_FALSE(reply.is_request);
      (void)checked(reply, seen);
    });
    for (unsigned i = 0; i < count; ++i) {
      wait(*job.conduits[0], job.host(0), sink, [&] { return send(0, i, false) == Status::ok; });
    }
    wait(*job.conduits[0], job.host(0), sink,
         [&] { return sink.messages == (count + 1) / 2 && job.conduits[0]->credits(Rank{1}) >= 11; });
  });
  job.engine.start(Rank{1}, [&] {
    std::vector<bool> seen(count);
    Sink sink([&](const AmView& message) {
      CHECK(message.is_request);
      const unsigned i = checked(message, seen);
      if (i % 2 != 0) return;
      while (send(1, i, true) != Status::ok) {
        Sink none;
        if (job.conduits[1]->poll(none, 16, conduit::PollFilter::replies_only) == 0) job.host(1).idle(kNever);
      }
    });
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == count; });
    settle(*job.conduits[1], job.host(1), sink, job.host(1).now() + kLong);
  });
  job.engine.run();
  Flow flow;
  for (unsigned rank = 0; rank < 2; ++rank) {
    flow.ringed += job.context(rank).counters().ringed;
    flow.hidden += job.conduits[rank]->hidden_replies();
    flow.rings += job.conduits[rank]->granted_rings();
    flow.clocks.push_back(job.host(rank).now());
  }
  return flow;
}

// More messages go by rings than these have slots. Slots come back in order and are used again and again.
TEST_CASE("ibv_conduit_messages_by_rings_arrive_as_they_were_sent") {
  const Flow flow = stream(kRings, 400);
  CHECK(flow.rings == 2);
  CHECK(flow.ringed > 170);  // 177 of 600: a message that is too large, or finds no free slot, is a send
  CHECK(flow.hidden > 0);
  const Flow none = stream(kNoRings, 400);
  CHECK(none.rings == 0);
  CHECK(none.ringed == 0);
  // Rank 1 grants a ring after its 1024th message. Rank 0 gets half as many replies and never grants one.
  const Flow usual = stream({}, 1100);
  CHECK(usual.rings == 1);
  CHECK(usual.ringed > 60);  // 63
  CHECK(stream({}, 900).rings == 0);
}

TEST_CASE("ibv_conduit_with_rings_gives_the_same_strictly_and_on_two_threads") {
  for (const IbvLimits& limits : {kRings, IbvLimits{.rings = {.peers = 1, .depth = 1, .cycle = 2}}}) {
    const std::vector<SimTime> lazy = stream(limits, 120).clocks;
    CHECK(lazy == stream(limits, 120, true).clocks);
    CHECK(lazy == stream(limits, 120, false, 2).clocks);
  }
}

TEST_CASE("ibv_rings_are_counted_as_memory_and_registered_at_the_start") {
  const conduit::Price registration{{0}, 1'000};
  Job with({.registration = registration}, {});
  Job without({.registration = registration}, kNoRings);
  CHECK(with.conduits[0]->reserved_bytes() == without.conduits[0]->reserved_bytes() + 16 * kRingSlot);
  CHECK((with.host(0).now() - without.host(0).now()).ps == 16 * 4096);
}

// A rank with rings of 31 peers looks at 31 slots in a poll without success.
TEST_CASE("ibv_rings_are_paid_for_by_every_poll") {
  constexpr IbvParameters kParameters{.instruction = {1'000}};
  const auto waits = [&](unsigned senders) {
    Job job({.ranks = 5, .topology = "crossbar:5"}, {.rings = {.peers = 4, .depth = 1, .cycle = 1}}, kParameters);
    for (unsigned rank = 1; rank < 5; ++rank) {
      job.engine.start(Rank{rank}, [&job, rank, senders] {
        Sink sink;
        if (rank <= senders) CHECK(try_send(*job.conduits[rank], header_to(0, Category::short_message)) == Status::ok);
        settle(*job.conduits[rank], job.host(rank), sink, kLong);
      });
    }
    std::int64_t step = 0;
    job.engine.start(Rank{0}, [&] {
      Sink sink;
      settle(*job.conduits[0], job.host(0), sink, kLong);
      const SimTime before = job.host(0).now();
      job.host(0).idle(before + SimTime{1});
      step = (job.host(0).now() - before).ps;
    });
    job.engine.run();
    return step;
  };
  for (const unsigned senders : {0U, 1U, 4U}) CHECK(waits(senders) == 10'000 + senders * kParameters.ring_look().ps);
}

}  // namespace
}  // namespace gasmeter::networks::ibv::am_rings_test

// Requests that a rank keeps while it may not hand them over, also from peers that break the rules.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/udp/request_credit.hpp"
#include "gasmeter/networks/udp/socket_datagrams.hpp"
#include "networks/udp/memory_network.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::udp::kept_requests_test {
namespace {

using conduit::Category;
using conduit::kNoOperation;
using conduit::OperationId;
using conduit::PollFilter;
using testing::has_pattern;
using testing::write_pattern;

constexpr Bytes kPayload = 1000;
constexpr std::int32_t kFarTooMany = 30'000;

std::chrono::steady_clock::time_point in_seconds(int seconds) {
  return std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
}

TEST_CASE("credit_of_requests_survives_its_wrapping_around_and_old_news") {
  RequestCredit credit;
  KeptRequests kept;
  const std::uint32_t step = kept_bytes(Category::medium, 60'000);
  std::uint32_t before = 0;
  for (std::uint64_t total = 0; total < std::uint64_t{3} << 32; total += 100 * std::uint64_t{step}) {
    for (unsigned i = 0; i < 100; ++i) {
      REQUIRE(credit.has_room(step));
      credit.take(step);
    }
    for (unsigned i = 0; i < 100; ++i) kept.handle(step);
    before = kept.handled() - step;
    credit.handled(kept.handled());
    credit.handled(before);  // an old header that newer ones have overtaken
  }
  unsigned room = 0;
  for (; credit.has_room(step); ++room) credit.take(step);
  CHECK(room == kMostKept / step);
}

TEST_CASE("requests_that_must_wait_are_kept_up_to_a_bound_and_all_else_goes_on") {
  MemoryWorld world;
  std::vector<std::byte> payload(kPayload);
  // Do the polls of a handler that waits for room for its reply.
  const auto turn = [&] {
    MemoryWorld::carry(world.a, world.b);
    MemoryWorld::carry(world.b, world.a);
    (void)world.a.poll();
    (void)world.b.conduit.poll(world.b.sink, 100, PollFilter::replies_only);
    world.a.conduit.serve();
    world.b.conduit.serve();
  };
  std::int32_t sent = 0;
  for (unsigned refused = 0; refused < 100 && sent < kFarTooMany; ++refused) {
    while (send_message(world.a.conduit, 1, Category::medium, sent, payload) == Status::ok && sent < kFarTooMany) {
      ++sent;
      refused = 0;
    }
    turn();
  }
  const Bytes kept = static_cast<Bytes>(sent) * kept_bytes(Category::medium, kPayload);
  CHECK(kept <= kMostKept);
  CHECK(kept > kMostKept / 2);
  CHECK(world.b.conduit.counters().most_kept == kept);
  CHECK(world.b.conduit.counters().beyond == 0);  // no rank sends a request that would be refused
  CHECK(world.a.conduit.is_quiet());
  CHECK(world.b.sink.messages.empty());

  std::vector<std::byte> source(20'000);
  std::vector<std::byte> fetched(20'000);
  write_pattern(source.data(), source.size(), 9);
  write_pattern(world.b.memory.data() + 100'000, fetched.size(), 10);
  std::uint32_t number = 0;
  for (const Bytes bytes : {Bytes{8}, source.size()}) {
    REQUIRE(world.a.conduit.put(Rank{1}, world.b.memory.data(), source.data(), bytes, OperationId{number++},
                                kNoOperation) == Status::ok);
    REQUIRE(world.a.conduit.get(Rank{1}, fetched.data(), world.b.memory.data() + 100'000, bytes,
                                OperationId{number++}) == Status::ok);
  }
  REQUIRE(send_message(world.a.conduit, 1, Category::medium, -1, payload, true) == Status::ok);
  REQUIRE(send_message(world.b.conduit, 0, Category::medium, -2, payload) == Status::ok);
  for (unsigned i = 0; i < 100; ++i) turn();
  CHECK(world.a.sink.done.size() == number);
  CHECK(has_pattern(world.b.memory.data(), source.size(), 9));
  CHECK(has_pattern(fetched.data(), fetched.size(), 10));
  REQUIRE(world.b.sink.messages.size() == 1);
  CHECK(world.b.sink.messages.front().arguments.at(0) == -1);
  CHECK(world.a.sink.messages.size() == 1);

  // The handler ends. The first datagram that reports the room is lost.
  for (unsigned i = 0; i < 1000; ++i) (void)world.b.poll();
  CHECK(world.b.sink.messages.size() == static_cast<std::size_t>(sent) + 1);
  world.b.service.sent.clear();
  CHECK(send_message(world.a.conduit, 1, Category::medium, sent, payload) == Status::no_resource);
  const auto end = in_seconds(20);
  while (send_message(world.a.conduit, 1, Category::medium, sent, payload) != Status::ok &&
         std::chrono::steady_clock::now() < end) {
    world.settle(1);
  }
  world.settle();
  REQUIRE(world.b.sink.messages.size() == static_cast<std::size_t>(sent) + 2);
  for (std::int32_t i = 0; i <= sent; ++i) {
    REQUIRE(world.b.sink.messages[static_cast<std::size_t>(i) + 1].arguments.at(0) == i);
  }
}

TEST_CASE("requests_of_a_peer_that_sends_beyond_its_credit_are_refused") {
  MemoryWorld world;
  const UdpSettings settings = MemoryWorld::settings();
  const TagKey key(settings.key);
  const std::vector<std::byte> payload(kPayload);
  const std::array<std::int32_t, 1> argument{7};
  const auto flood = [&](bool in_fragments) {
    for (std::uint64_t i = 0; i < kFarTooMany; ++i) {
      MadeDatagram datagram = empty_datagram();
      if (in_fragments) {
        datagram = fragment_datagram({.transfer = static_cast<std::uint32_t>(i),
                                      .kind = FragmentKind::request_medium,
                                      .handler = 200,
                                      .total = 60'000},
                                     {}, payload);
      } else {
        add_record(datagram, RecordKind::request_medium, HandlerIndex{200}, argument, 0, payload.data(), kPayload);
      }
      Header header;
      header.session = settings.session;
      header.source = 0;
      header.destination = 1;
      header.sequence = settings.first_sequence + i;
      header.content = in_fragments ? Content::fragment : Content::records;
      header.acknowledged = settings.first_sequence;
      seal(datagram, header, key, settings.covers);
      world.b.service.arriving.push_back(std::move(datagram));
      (void)world.b.conduit.poll(world.b.sink, 100, PollFilter::replies_only);
      if (world.b.conduit.counters().beyond != 0) break;
    }
    CHECK(world.b.conduit.counters().beyond == 1);
    CHECK(world.b.conduit.counters().most_kept > kMostKept);
    CHECK(world.b.conduit.counters().most_kept <= kMostKept + 61'000);
  };
  SUBCASE("records") {
    flood(false);
  }
  SUBCASE("fragments") {
    flood(true);
  }
}

// Rank 2 does not poll. Rank 1 has a reply for it and no room. Rank 0 sends to rank 1 as fast as it may.
TEST_CASE("a_stalled_rank_and_a_flood_leave_the_third_rank_its_memory") {
  constexpr std::uint32_t kRanks = 3;
  std::vector<std::unique_ptr<SocketDatagrams>> sockets;
  std::vector<std::string> addresses;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    sockets.push_back(std::make_unique<SocketDatagrams>(SocketOptions{}));
    addresses.push_back(sockets.back()->address());
  }
  std::vector<std::unique_ptr<UdpConduit>> ranks;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    sockets[rank]->set_peers(addresses, sockets[rank]->limits().largest);
    ranks.push_back(std::make_unique<UdpConduit>(RealHost(WaitMode::yield), *sockets[rank], Rank{rank}, kRanks,
                                                 std::span<std::byte>{}, MemoryWorld::settings()));
  }
  Sink sink;
  const std::vector<std::byte> payload(kPayload);
  while (send_message(*ranks[1], 2, Category::medium, 0, payload, true) == Status::ok) {
  }
  std::int32_t sent = 0;
  const auto end = in_seconds(20);
  for (unsigned refused = 0; refused < 5000 && std::chrono::steady_clock::now() < end; ++refused) {
    while (sent < kFarTooMany && send_message(*ranks[0], 1, Category::medium, sent, payload) == Status::ok) {
      ++sent;
      refused = 0;
    }
    (void)ranks[0]->poll(sink, 100, PollFilter::everything);
    (void)ranks[1]->poll(sink, 100, PollFilter::replies_only);
  }
  CHECK(sent < kFarTooMany);
  CHECK(ranks[1]->counters().most_kept > kMostKept / 2);
  CHECK(ranks[1]->counters().most_kept <= kMostKept);
  CHECK(ranks[1]->counters().beyond == 0);
  CHECK(sink.messages.empty());
  // The stalled rank goes on, and so do all others.
  const auto late = in_seconds(30);
  while (sink.messages.size() < static_cast<std::size_t>(sent) && std::chrono::steady_clock::now() < late) {
    for (const auto& rank : ranks) (void)rank->poll(sink, 100, PollFilter::everything);
  }
  CHECK(sink.messages.size() >= static_cast<std::size_t>(sent));
}

TEST_CASE("a_put_outside_the_segment_is_refused_alike_as_record_and_as_fragments") {
  for (const Bytes bytes : {Bytes{8}, Bytes{700}, Bytes{1400}, Bytes{50'000}}) {
    CAPTURE(bytes);
    MemoryWorld world;
    std::vector<std::byte> source(bytes, std::byte{0x5a});
    std::byte* const outside = world.b.memory.data() + world.b.memory.size() - bytes + 1;
    REQUIRE(world.a.conduit.put(Rank{1}, outside, source.data(), bytes, OperationId{5}, kNoOperation) == Status::ok);
    world.settle(200);
    CHECK(world.b.conduit.counters().malformed != 0);
    CHECK(testing::is_filled(world.b.memory.data(), world.b.memory.size(), 0));
    CHECK(world.a.conduit.is_quiet());  // the datagram is not sent again and again
    CHECK(world.a.sink.done == std::vector<OperationId>{OperationId{5}});
    REQUIRE(world.a.conduit.put(Rank{1}, outside - 1, source.data(), bytes, OperationId{6}, kNoOperation) ==
            Status::ok);
    world.settle(200);
    CHECK(testing::is_filled(outside - 1, bytes, 0x5a));
    CHECK(world.a.conduit.is_quiet());
  }
}

TEST_CASE("a_peer_of_which_only_old_datagrams_come_has_not_answered") {
  UdpSettings settings = MemoryWorld::settings();
  settings.patience = SimTime::from_ns(30e6);
  End a(0, 1472, settings);
  End b(1, 1472, settings);
  std::vector<MadeDatagram> replayed;
  REQUIRE(send_message(a.conduit, 1, Category::short_message, 1) == Status::ok);
  for (unsigned i = 0; i < 10; ++i) {
    MemoryWorld::carry(a, b);
    (void)b.poll();
    if (i == 0) REQUIRE(send_message(b.conduit, 0, Category::short_message, 2) == Status::ok);
    b.conduit.serve();
    replayed.insert(replayed.end(), b.service.sent.begin(), b.service.sent.end());
    MemoryWorld::carry(b, a);
    (void)a.poll();
    a.conduit.serve();
  }
  REQUIRE(a.conduit.is_quiet());
  REQUIRE(!replayed.empty());
  REQUIRE(send_message(a.conduit, 1, Category::short_message, 3) == Status::ok);
  const auto poll_with_replays = [&] {
    for (const auto end = in_seconds(5); std::chrono::steady_clock::now() < end;) {
      for (const MadeDatagram& datagram : replayed) a.service.arriving.push_back(datagram);
      (void)a.poll();
    }
  };
  CHECK_THROWS_AS(poll_with_replays(), BrokenJob);
  CHECK(a.conduit.counters().duplicates > 0);
}

}  // namespace
}  // namespace gasmeter::networks::udp::kept_requests_test

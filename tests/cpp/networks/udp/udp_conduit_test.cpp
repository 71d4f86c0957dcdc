#include "gasmeter/networks/udp/udp_conduit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/udp/memory_network.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::udp::udp_conduit_test {
namespace {

using conduit::Category;
using conduit::kNoOperation;
using conduit::OperationId;
using conduit::PollFilter;
using testing::has_pattern;
using testing::write_pattern;

std::vector<std::int32_t> numbers(const Sink& sink) {
  std::vector<std::int32_t> result;
  for (const Arrived& message : sink.messages) result.push_back(message.arguments.at(0));
  return result;
}

std::vector<std::int32_t> count_up(std::int32_t first, std::int32_t end) {
  std::vector<std::int32_t> result;
  for (; first != end; ++first) result.push_back(first);
  return result;
}

Status send_short(End& from, std::uint32_t to, std::int32_t number) {
  return send_message(from.conduit, to, Category::short_message, number);
}

TEST_CASE("lone_message_leaves_at_once_and_those_behind_it_share_a_datagram") {
  MemoryWorld world;
  REQUIRE(send_short(world.a, 1, 0) == Status::ok);
  REQUIRE(world.a.service.sent.size() == 1);
  for (std::int32_t i = 1; i < 20; ++i) REQUIRE(send_short(world.a, 1, i) == Status::ok);
  CHECK(world.a.service.sent.size() == 1);
  CHECK_FALSE(world.a.conduit.is_quiet());
  (void)world.a.poll();
  CHECK(world.a.service.fresh(MemoryWorld::kFirst).size() == 2);
  MemoryWorld::carry(world.a, world.b);
  (void)world.b.poll();
  (void)world.b.poll();
  CHECK(numbers(world.b.sink) == count_up(0, 20));
  world.settle();
  CHECK(world.a.conduit.is_quiet());
  CHECK(numbers(world.b.sink) == count_up(0, 20));
  conduit::Counts counts;
  world.a.conduit.add_to(counts);
  CHECK(counts.of(conduit::Count::messages) == 20U);
  CHECK(counts.of(conduit::Count::payload_bytes) == 0U);
  CHECK(counts.of(conduit::Count::datagrams) ==
        world.a.conduit.counters().sent + world.a.conduit.counters().acknowledgements);
  CHECK(world.a.conduit.counters().sent == 2);
  CHECK(counts.of(conduit::Count::retransmits) == 0U);
  // No datagram is on its way any more, so the next message leaves at once.
  world.a.service.sent.clear();
  REQUIRE(send_short(world.a, 1, 20) == Status::ok);
  CHECK(world.a.service.sent.size() == 1);
}

TEST_CASE("datagrams_that_come_twice_or_in_another_order_are_applied_once") {
  MemoryWorld world;
  std::vector<std::byte> source(4000);
  write_pattern(source.data(), source.size(), 1);
  for (std::int32_t i = 0; i < 30; ++i) {
    REQUIRE(send_message(world.a.conduit, 1, Category::medium, i, {source.data(), 700}) == Status::ok);
    (void)world.a.poll();
  }
  REQUIRE(world.a.conduit.put(Rank{1}, world.b.memory.data(), source.data(), source.size(), OperationId{1},
                              kNoOperation) == Status::ok);
  std::deque<MadeDatagram>& sent = world.a.service.sent;
  const std::vector<MadeDatagram> replayed(sent.begin(), sent.end());
  std::reverse(sent.begin(), sent.end());
  for (const MadeDatagram& datagram : replayed) sent.push_back(datagram);
  world.settle();
  std::vector<std::int32_t> seen = numbers(world.b.sink);
  std::sort(seen.begin(), seen.end());
  CHECK(seen == count_up(0, 30));
  for (const Arrived& message : world.b.sink.messages) CHECK(has_pattern(message.payload.data(), 700, 1));
  CHECK(has_pattern(world.b.memory.data(), source.size(), 1));
  CHECK(world.b.conduit.counters().duplicates >= replayed.size());
  CHECK(world.a.sink.done == std::vector<OperationId>{OperationId{1}});
  // A late replay must not change memory that has new contents.
  std::fill(world.b.memory.begin(), world.b.memory.end(), std::byte{7});
  for (const MadeDatagram& datagram : replayed) world.b.service.arriving.push_back(datagram);
  world.settle();
  CHECK(testing::is_filled(world.b.memory.data(), world.b.memory.size(), 7));
  CHECK(world.b.sink.messages.size() == 30);
}

TEST_CASE("receiver_that_never_polls_stops_its_sender_after_a_bounded_number_of_bytes") {
  for (const Bytes largest : {Bytes{544}, Bytes{1472}, Bytes{8944}, Bytes{65488}}) {
    CAPTURE(largest);
    MemoryWorld world(largest);
    const std::vector<std::byte> payload(400);
    std::int32_t sent = 0;
    while (sent < 1'000'000 && send_message(world.a.conduit, 1, Category::medium, sent, payload) == Status::ok) {
      ++sent;
      (void)world.a.poll();
    }
    CHECK(sent > 0);
    CHECK(static_cast<Bytes>(sent) * payload.size() < 1024 * 1024);
    conduit::AmBuffer buffer;
    CHECK(world.a.conduit.prepare({Rank{1}, Category::short_message, false, 1, 0}, nullptr, 0, 0, buffer) ==
          Status::no_resource);
    // When the rank polls, all messages arrive, and there is room again.
    world.settle(400);
    CHECK(world.b.sink.messages.size() == static_cast<std::size_t>(sent));
    CHECK(send_short(world.a, 1, 0) == Status::ok);
  }
}

TEST_CASE("puts_complete_when_they_are_acknowledged_and_not_before") {
  for (const Bytes bytes : {Bytes{1}, Bytes{700}, Bytes{1400}, Bytes{50'000}}) {
    CAPTURE(bytes);
    MemoryWorld world;
    std::vector<std::byte> source(bytes);
    write_pattern(source.data(), bytes, bytes);
    REQUIRE(world.a.conduit.put(Rank{1}, world.b.memory.data() + 8, source.data(), bytes, OperationId{5},
                                kNoOperation) == Status::ok);
    (void)world.a.poll();
    for (unsigned i = 0; i < 1000; ++i) {
      MemoryWorld::carry(world.a, world.b);
      (void)world.b.poll();
      world.b.conduit.serve();
      if (has_pattern(world.b.memory.data() + 8, bytes, bytes)) break;
      MemoryWorld::carry(world.b, world.a);  // these acknowledgements cover only part of the put
      (void)world.a.poll();
      REQUIRE(world.a.sink.done.empty());
    }
    REQUIRE(has_pattern(world.b.memory.data() + 8, bytes, bytes));
    (void)world.a.poll();
    CHECK(world.a.sink.done.empty());
    world.settle();
    CHECK(world.a.sink.done == std::vector<OperationId>{OperationId{5}});
    CHECK(world.a.conduit.is_quiet());
  }
}

TEST_CASE("gets_bring_what_they_ask_for_in_one_datagram_or_several") {
  for (const Bytes largest : {Bytes{544}, Bytes{1472}, Bytes{8944}}) {
    MemoryWorld world(largest);
    write_pattern(world.b.memory.data(), world.b.memory.size(), 77);
    std::vector<std::vector<std::byte>> into;
    const std::vector<Bytes> sizes{1, 8, 500, 735, 737, 1472, 5000, 100'000, 3};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      into.emplace_back(sizes[i], std::byte{1});
      REQUIRE(world.a.conduit.get(Rank{1}, into.back().data(), world.b.memory.data(), sizes[i],
                                  OperationId{static_cast<std::uint32_t>(i)}) == Status::ok);
    }
    world.settle(200);
    CHECK(std::set<OperationId>(world.a.sink.done.begin(), world.a.sink.done.end()).size() == sizes.size());
    CHECK(world.a.sink.done.size() == sizes.size());
    for (const std::vector<std::byte>& bytes : into) CHECK(has_pattern(bytes.data(), bytes.size(), 77));
  }
}

TEST_CASE("poll_hands_over_no_more_than_its_budget") {
  MemoryWorld world;
  for (std::int32_t i = 0; i < 200; ++i) REQUIRE(send_short(world.a, 1, i) == Status::ok);
  const std::vector<std::byte> large(20'000);
  for (std::int32_t i = 200; i < 210; ++i) {
    REQUIRE(send_message(world.a.conduit, 1, Category::medium, i, large) == Status::ok);
  }
  for (unsigned i = 0; i < 2000 && world.b.sink.messages.size() < 210; ++i) {
    (void)world.a.poll();
    MemoryWorld::carry(world.a, world.b);
    MemoryWorld::carry(world.b, world.a);
    const std::size_t before = world.b.sink.messages.size();
    (void)world.b.poll(1 + i % 3);
    REQUIRE(world.b.sink.messages.size() - before <= 1 + i % 3);
    if (i % 5 == 0) world.b.conduit.serve();  // keeps messages that it may not deliver
  }
  std::vector<std::int32_t> seen = numbers(world.b.sink);
  std::sort(seen.begin(), seen.end());
  CHECK(seen == count_up(0, 210));
}

TEST_CASE("poll_and_serve_return_however_much_arrives_that_is_of_no_use") {
  MemoryWorld world;
  REQUIRE(send_short(world.a, 1, 0) == Status::ok);
  MemoryWorld::carry(world.a, world.b);
  std::uint64_t made = 0;
  world.b.service.flood = [&made] {
    REQUIRE(++made < 1'000'000);
    return MadeDatagram(100, std::byte{1});
  };
  (void)world.b.poll();
  (void)world.b.poll();
  CHECK(numbers(world.b.sink) == count_up(0, 1));
  world.b.conduit.serve();
  CHECK_FALSE(world.b.service.sent.empty());  // the rank has acknowledged
  world.b.service.flood = nullptr;
  world.settle();
  CHECK(world.a.conduit.is_quiet());
}

TEST_CASE("replies_are_delivered_where_requests_must_wait") {
  MemoryWorld world;
  for (std::int32_t i = 0; i < 6; ++i) {
    REQUIRE(send_message(world.a.conduit, 1, Category::short_message, i, {}, i % 3 == 2) == Status::ok);
  }
  (void)world.a.poll();
  MemoryWorld::carry(world.a, world.b);
  for (unsigned i = 0; i < 4; ++i) (void)world.b.conduit.poll(world.b.sink, 16, PollFilter::replies_only);
  CHECK(numbers(world.b.sink) == std::vector<std::int32_t>{2, 5});
  for (unsigned i = 0; i < 4; ++i) (void)world.b.poll(16);
  CHECK(numbers(world.b.sink) == std::vector<std::int32_t>{2, 5, 0, 1, 3, 4});
}

TEST_CASE("network_that_takes_nothing_for_a_while_loses_nothing") {
  MemoryWorld world;
  world.a.service.refuses = true;
  for (std::int32_t i = 0; i < 50; ++i) REQUIRE(send_short(world.a, 1, i) == Status::ok);
  for (unsigned i = 0; i < 10; ++i) (void)world.a.poll();
  CHECK(world.a.service.sent.empty());
  world.a.service.refuses = false;
  world.settle();
  CHECK(numbers(world.b.sink) == count_up(0, 50));
}

TEST_CASE("a_packet_is_the_largest_message_that_fits_a_datagram") {
  MemoryWorld world(32 * 1024);
  const conduit::AmHeader header{Rank{1}, Category::medium, false, conduit::kMaxArguments, 0};
  const Bytes packet = world.a.conduit.capabilities().packet_medium;
  CHECK(packet > 31 * 1024);
  const std::array<std::int32_t, conduit::kMaxArguments> arguments{};
  // On a busy computer the timer may send datagrams again, so count only first transmissions.
  const auto first_time = [&] {
    const UdpCounters& counters = world.a.conduit.counters();
    return counters.sent - counters.retransmitted;
  };
  std::uint64_t before = 0;
  for (const Bytes bytes : {packet, packet + 16}) {
    world.settle();
    conduit::AmBuffer buffer;
    REQUIRE(world.a.conduit.prepare(header, nullptr, bytes, bytes, buffer) == Status::ok);
    write_pattern(buffer.data, bytes, 7);
    REQUIRE(world.a.conduit.commit(buffer, {HandlerIndex{200}, bytes, nullptr, arguments}, kNoOperation) == Status::ok);
    world.settle();
    REQUIRE_FALSE(world.b.sink.messages.empty());
    CHECK(world.b.sink.messages.back().payload.size() == bytes);
    CHECK(first_time() - before == (bytes == packet ? 1 : 2));
    before = first_time();
  }
  CHECK(MemoryWorld(1472).a.conduit.capabilities().packet_medium == 0);  // fragments are cheaper than messages there
}

TEST_CASE("datagrams_too_small_for_a_message_are_refused") {
  CHECK_THROWS_AS(MemoryWorld(496), UsageError);
}

}  // namespace
}  // namespace gasmeter::networks::udp::udp_conduit_test

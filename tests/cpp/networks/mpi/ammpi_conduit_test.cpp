#include "gasmeter/networks/mpi/ammpi_conduit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "matched_end.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::mpi::ammpi_conduit_test {
namespace {

using conduit::AmBuffer;
using conduit::AmView;
using conduit::Category;
using conduit::kNoOperation;
using conduit::OperationId;
using conduit::PollFilter;
using gasmeter::testing::has_pattern;
using gasmeter::testing::MatchingOptions;
using gasmeter::testing::MemoryMatching;
using gasmeter::testing::write_pattern;
using testing::count_up;
using testing::try_send;

using End = testing::MatchedEnd<AmmpiConduit<RealHost>>;

struct World : testing::MatchedWorld<End> {
  explicit World(const MatchingOptions& options = {}, std::uint32_t depth = ammpi::kDepth)
      : MatchedWorld(options, 2U, depth) {}
};

// Return the number of requests that are taken before one is refused.
std::int32_t requests_taken(End& from, std::int32_t first = 0) {
  std::int32_t number = first;
  while (try_send(from, 1, Category::short_message, number) == Status::ok) {
    ++number;
    (void)from.poll();
  }
  return number - first;
}

TEST_CASE("every_message_is_a_message_of_the_network_and_a_round_trip_is_two") {
  World world;
  world.b.on_message = [&](const AmView& message) {
    CHECK(message.is_request);
    CHECK(try_send(world.b, 0, Category::short_message, message.arguments[0], {}, nullptr, true) == Status::ok);
  };
  for (std::int32_t i = 0; i < 100; ++i) {
    REQUIRE(try_send(world.a, 1, Category::short_message, i) == Status::ok);
    CHECK(world.b.poll() == 1);
    CHECK(world.a.poll() == 1);
  }
  CHECK(world.a.numbers == count_up(100));
  CHECK(world.a.port.sends == 100);
  CHECK(world.b.port.sends == 100);
  CHECK(world.b.conduit.counters().empty_replies == 0);  // tokens come back with other messages
  CHECK(world.a.conduit.is_quiet());
}

TEST_CASE("a_header_that_names_memory_outside_the_segment_is_refused") {
  for (const Bytes size : {Bytes{8}, Bytes{40'000}}) {
    const std::vector<std::byte> data(size);
    testing::FencedMemory memory;
    for (std::byte* const at : memory.outside(size)) {
      World world;
      world.b.conduit.attach(memory.segment());
      REQUIRE(try_send(world.a, 1, Category::long_message, 0, data, at) == Status::ok);
      CHECK(testing::refusal(world.a, world.b).starts_with("mpi: message from rank 0 names "));
      CHECK(world.b.numbers.empty());
      CHECK(memory.is_untouched());
    }
    World world;
    world.b.conduit.attach(memory.segment());
    REQUIRE(try_send(world.a, 1, Category::long_message, 7, data, memory.segment().data()) == Status::ok);
    CHECK(testing::refusal(world.a, world.b).empty());
    CHECK(world.b.numbers == std::vector<std::int32_t>{7});
  }
}

// With a depth of 4 eight requests may be on their way, and a receiver keeps six tokens to itself. The seventh request
// gets an empty reply with seven tokens. A flood of 700 therefore has 100 empty replies.
TEST_CASE("tokens_bound_requests_and_come_back_in_an_empty_reply_for_seven") {
  World world;
  CHECK(requests_taken(world.a) == 8);
  CHECK(world.a.conduit.counters().handed.stalls == 1);
  CHECK(world.b.poll() == 8);
  CHECK(world.b.conduit.counters().empty_replies == 1);
  CHECK(requests_taken(world.a, 8) == 0);  // the sender has not polled for it yet
  (void)world.a.poll();
  CHECK(requests_taken(world.a, 8) == 7);
  std::int32_t sent = 15;
  while (sent < 701) {
    world.settle();
    sent += requests_taken(world.a, sent);
  }
  world.settle();
  CHECK(world.b.numbers == count_up(sent));
  CHECK(world.b.conduit.counters().empty_replies == static_cast<std::uint64_t>(sent) / 7);
  CHECK(world.b.port.sends == world.b.conduit.counters().empty_replies);
  conduit::Counts counts;
  world.b.conduit.add_to(counts);
  CHECK(counts.of(conduit::Count::credits) == world.b.port.sends);
  CHECK(counts.of(conduit::Count::two_sided_messages) == world.b.port.sends);
}

TEST_CASE("tokens_ride_on_requests_that_go_the_other_way") {
  World world;
  for (std::int32_t i = 0; i < 200; ++i) {
    REQUIRE(try_send(world.a, 1, Category::short_message, i) == Status::ok);
    (void)world.b.poll();
    REQUIRE(try_send(world.b, 0, Category::short_message, i) == Status::ok);
    (void)world.a.poll();
  }
  CHECK(world.a.conduit.counters().empty_replies + world.b.conduit.counters().empty_replies == 0);
  CHECK(world.a.port.sends + world.b.port.sends == 400);
}

TEST_CASE("every_size_arrives_whole_in_either_direction") {
  for (const Bytes eager : {Bytes{0}, Bytes{1000}, Bytes{1'000'000}}) {
    for (const bool eager_is_done : {true, false}) {
      World world({.eager = eager, .eager_is_done = eager_is_done});
      for (const Bytes size : {Bytes{0}, Bytes{1}, Bytes{8}, Bytes{1000}, Bytes{8193}, ammpi::kMaxData}) {
        CAPTURE(size);
        std::vector<std::byte> source(size);
        std::vector<std::byte> target(size + 1);
        write_pattern(source.data(), size, size);
        unsigned messages = 0;
        for (End* const end : {&world.a, &world.b}) {
          end->on_message = [&, end](const AmView& message) {
            ++messages;
            CHECK(message.size == size);
            CHECK(has_pattern(static_cast<const std::byte*>(message.payload), size, size));
            const bool is_medium = message.category == Category::medium;
            if (is_medium) {
              CHECK(reinterpret_cast<std::uintptr_t>(message.payload) % alignof(std::max_align_t) == 0);
            }
            if (message.is_request) {
              CHECK(try_send(*end, 0, message.category, 0, source, is_medium ? nullptr : target.data(), true) ==
                    Status::ok);
            }
          };
        }
        REQUIRE(try_send(world.a, 1, Category::medium, 0, source) == Status::ok);
        REQUIRE(try_send(world.a, 1, Category::long_message, 0, source, target.data()) == Status::ok);
        world.settle();
        CHECK(messages == 4);
        CHECK(has_pattern(target.data(), size, size));
        CHECK(target.back() == std::byte{});
      }
      CHECK(world.a.conduit.is_quiet());
      CHECK(world.b.conduit.is_quiet());
    }
  }
}

TEST_CASE("a_prepared_message_that_is_given_up_gives_back_its_token_and_its_buffer") {
  World world({}, 1);
  for (int i = 0; i < 10; ++i) {
    AmBuffer prepared;
    REQUIRE(world.a.conduit.prepare({Rank{1}, Category::medium, false, 1, 0}, nullptr, 0, 100, prepared) == Status::ok);
    AmBuffer another;
    CHECK(world.a.conduit.prepare({Rank{1}, Category::medium, false, 1, 0}, nullptr, 0, 100, another) ==
          Status::no_resource);  // the first message holds the only large buffer
    world.a.conduit.cancel(prepared);
  }
  CHECK(requests_taken(world.a) == 2);
}

TEST_CASE("what_is_sent_may_change_at_the_next_poll") {
  World world;
  std::array<std::byte, 100> payload{};
  write_pattern(payload.data(), payload.size(), 3);
  AmBuffer buffer;
  REQUIRE(world.a.conduit.prepare({Rank{1}, Category::medium, false, 0, 0}, payload.data(), payload.size(),
                                  payload.size(), buffer) == Status::ok);
  CHECK(buffer.data == payload.data());
  REQUIRE(world.a.conduit.commit(buffer, {HandlerIndex{200}, payload.size(), nullptr, {}}, OperationId{7}) ==
          Status::ok);
  payload.fill(std::byte{});
  CHECK(world.a.poll() == 1);
  CHECK(world.a.done == std::vector<std::uint32_t>{7});
  world.b.on_message = [](const AmView& message) {
    CHECK(has_pattern(static_cast<const std::byte*>(message.payload), 100, 3));
  };
  CHECK(world.b.poll() == 1);
}

// A rank that waits inside a request handler takes replies alone, and loses no request.
TEST_CASE("a_poll_for_replies_keeps_requests_for_later") {
  World world;
  REQUIRE(try_send(world.a, 1, Category::short_message, 0) == Status::ok);
  REQUIRE(try_send(world.a, 1, Category::short_message, 1, {}, nullptr, true) == Status::ok);
  CHECK(world.b.poll(PollFilter::replies_only) == 1);
  CHECK(world.b.numbers == std::vector<std::int32_t>{1});
  CHECK(world.b.poll() == 1);
  CHECK(world.b.numbers == std::vector<std::int32_t>{1, 0});
}

TEST_CASE("a_poll_hands_over_ten_messages") {
  MemoryMatching network(3, {});
  End one(network, 0, 3U);
  End target(network, 1, 3U);
  End two(network, 2, 3U);
  CHECK(requests_taken(one) == 8);
  CHECK(requests_taken(two) == 8);
  // Eight receives hold requests at a time, whatever the sender. Other requests wait in the network.
  CHECK(target.poll() == 8);
  for (int i = 0; i < 3; ++i) (void)target.poll();
  CHECK(target.numbers.size() == 16);
  for (std::int32_t i = 0; i < 8; ++i) {
    REQUIRE(try_send(one, 1, Category::short_message, i, {}, nullptr, true) == Status::ok);
  }
  (void)one.poll();
  CHECK(requests_taken(one) >= 4);
  CHECK(target.poll() == 10);
}

// An empty reply that finds no buffer leaves later. No token is lost meanwhile.
TEST_CASE("tokens_are_owed_until_there_is_room_for_them") {
  World world;
  CHECK(requests_taken(world.a) == 8);
  world.b.port.refuses = true;
  CHECK(world.b.poll() == 8);
  CHECK_FALSE(world.b.conduit.is_quiet());
  world.b.port.refuses = false;
  world.b.conduit.serve();
  CHECK(world.b.conduit.is_quiet());
  (void)world.a.poll();
  CHECK(requests_taken(world.a, 8) == 8);
}

TEST_CASE("a_handler_that_throws_has_had_its_message_and_its_receive_is_posted_again") {
  World world({}, 1);
  world.b.on_message = [](const AmView&) { throw UsageError("no"); };
  std::int32_t sent = 0;
  for (int i = 0; i < 20; ++i) {
    sent += requests_taken(world.a, sent);
    for (bool has_thrown = true; has_thrown;) {
      has_thrown = false;
      try {
        (void)world.b.poll();
      } catch (const UsageError&) {
        has_thrown = true;
      }
    }
    (void)world.a.poll();
  }
  CHECK(sent > 20);
  CHECK(world.b.numbers == count_up(sent));
}

// A rank's own messages return tokens, but post receives for answers alone.
TEST_CASE("receives_behind_handlers_that_threw_are_posted_again_by_polls") {
  World world({}, 1);
  world.b.on_message = [](const AmView&) { throw UsageError("no"); };
  for (std::int32_t i = 0; i < 10; ++i) {
    REQUIRE(try_send(world.a, 1, Category::short_message, i) == Status::ok);
    CHECK_THROWS_WITH_AS((void)world.b.poll(), "no", UsageError);
    REQUIRE(try_send(world.b, 0, Category::short_message, i) == Status::ok);
    (void)world.a.poll();
    (void)world.b.poll();
  }
  CHECK(world.b.numbers == count_up(10));
}

TEST_CASE("messages_that_are_prepared_together_have_buffers_of_their_own") {
  for (const Bytes size : {Bytes{0}, Bytes{5000}}) {
    CAPTURE(size);
    World world;
    std::vector<AmBuffer> prepared;
    for (const bool is_reply : {false, true}) {
      for (unsigned i = 0; i < ammpi::kDepth; ++i) {
        AmBuffer& buffer = prepared.emplace_back();
        REQUIRE(world.a.conduit.prepare({Rank{1}, Category::medium, is_reply, 1, 0}, nullptr, size, size, buffer) ==
                Status::ok);
        write_pattern(static_cast<std::byte*>(buffer.data), size, prepared.size() - 1);
      }
    }
    world.b.on_message = [](const AmView& message) {
      CHECK(has_pattern(static_cast<const std::byte*>(message.payload), message.size,
                        static_cast<std::uint64_t>(message.arguments[0])));
    };
    for (std::int32_t i = 0; i < std::ssize(prepared); ++i) {
      REQUIRE(world.a.conduit.commit(prepared[static_cast<std::size_t>(i)],
                                     {HandlerIndex{200}, size, nullptr, std::span(&i, 1)}, kNoOperation) == Status::ok);
    }
    world.settle();
    std::sort(world.b.numbers.begin(), world.b.numbers.end());
    CHECK(world.b.numbers == count_up(2 * static_cast<std::int32_t>(ammpi::kDepth)));
  }
}

TEST_CASE("depths_and_networks_that_do_not_do_are_refused") {
  MemoryMatching network(2, {.most_sends = 15});
  CHECK_THROWS_WITH_AS(End(network, 0, 2U), "ammpi: a network with 15 sends at a time; 16 are needed", UsageError);
  MemoryMatching wide(2, {});
  CHECK_THROWS_WITH_AS(End(wide, 0, 2U, 0U), "ammpi: a depth of 0; 1..64 are allowed", UsageError);
  CHECK_THROWS_WITH_AS(End(wide, 0, 2U, 65U), "ammpi: a depth of 65; 1..64 are allowed", UsageError);
}

}  // namespace
}  // namespace gasmeter::networks::mpi::ammpi_conduit_test

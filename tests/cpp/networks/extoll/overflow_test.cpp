// Many senders, one mailbox: interleaved messages, full mailboxes and full notification queues.
#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "conduit_job.hpp"

namespace gasmeter::networks::extoll::overflow_test {
namespace {

using namespace testing;
using conduit::AmView;
using conduit::Category;
using conduit::PollFilter;
using gasmeter::testing::has_pattern;
using gasmeter::testing::seed_of;

// Messages that a rank sends to another. No two are the same.
struct Plan {
  Category category = Category::medium;
  Bytes size = 8192;
  unsigned messages = 1;
  unsigned arguments = 2;
  SimTime late{};  // receivers sleep until then
};

struct Outcome {
  std::vector<std::int64_t> clocks;
  PortCounters rank0;
  std::uint64_t dropped = 0;
  std::uint64_t held = 0;
  std::size_t most_partial = 0;
};

// Every rank of `senders` sends to every rank of `receivers`. Each handler of a request replies with its number.
Outcome crowd(const Shape& shape, const ExtollParameters& parameters, const AmOptions& options, unsigned receivers,
              const Plan& plan, bool reply) {
  Job job(shape, parameters, options);
  const unsigned ranks = shape.ranks;
  Outcome outcome;
  outcome.clocks.resize(ranks);
  const Bytes piece = plan.size * plan.messages;
  std::vector<std::byte*> segments(ranks);
  for (unsigned rank = 0; rank < receivers; ++rank) segments[rank] = job.segment(rank, piece * ranks);
  std::vector<unsigned> finished(ranks);
  for (unsigned self = 0; self < ranks; ++self) {
    job.engine.start(Rank{self}, [&, self] {
      sim::ModelHost host = job.host(self);
      ExtollConduit& conduit = *job.conduits[self];
      std::vector<unsigned> requests(ranks);
      unsigned received = 0;
      unsigned replies = 0;
      Sink replies_sink([&](const AmView& message) {
        CHECK_FALSE(message.is_request);
        ++replies;
      });
      Sink sink([&](const AmView& message) {
        if (!message.is_request) {
          ++replies;
          return;
        }
        const unsigned from = index(message.source);
        REQUIRE(message.arguments.size() == plan.arguments);
        const auto number = static_cast<unsigned>(message.arguments[0]);
        if (plan.category == Category::medium) CHECK(number == requests[from]);
        ++requests[from];
        ++received;
        CHECK(message.size == plan.size);
        CHECK(has_pattern(message.payload, plan.size, seed_of(from, self, number)));
        if (!reply) return;
        const std::array<std::int32_t, 1> back{message.arguments[0]};
        while (try_send(conduit, header_to(from, Category::short_message, 1, true), back) != Status::ok) {
          if (conduit.poll(replies_sink, 16, PollFilter::replies_only) == 0) host.idle(kNever);
        }
      });
      if (self < receivers) sleep_until(host, plan.late);
      for (unsigned number = 0; number < plan.messages; ++number) {
        for (unsigned to = 0; to < receivers; ++to) {
          std::vector<std::int32_t> arguments(plan.arguments);
          arguments[0] = static_cast<std::int32_t>(number);
          std::byte* const target = segments[to] + self * piece + number * plan.size;
          send_am(conduit, host, sink, header_to(to, plan.category, plan.arguments), arguments,
                  patterned(plan.size, seed_of(self, to, number)), target);
        }
      }
      const unsigned due = self < receivers ? ranks * plan.messages : 0;
      const unsigned answers = reply ? receivers * plan.messages : 0;
      wait(conduit, host, sink, [&] { return received == due && replies == answers; });
      outcome.clocks[self] = host.now().ps;
      outcome.most_partial = std::max(outcome.most_partial, conduit.most_partial());
      // Polls send the rest of the last message.
      while (host.now().ps < 1'000'000'000'000) {
        if (conduit.poll(sink, 16, PollFilter::everything) == 0) host.idle({1'000'000'000'000});
      }
      CHECK(received == due);
      CHECK(replies == answers);
    });
  }
  job.engine.run();
  outcome.rank0 = job.port(0).counters();
  for (unsigned rank = 0; rank < ranks; ++rank) {
    outcome.dropped += job.port(rank).counters().velo_dropped;
    outcome.held += job.port(rank).counters().velo_held;
  }
  return outcome;
}

TEST_CASE("extoll_puts_interleaved_messages_of_64_senders_together") {
  for (const AmOptions& options : {AmOptions::improved(), AmOptions::early()}) {
    const Outcome outcome =
        crowd({.ranks = 65, .topology = "mesh2d:13x5"}, {.mailbox_slots = 512, .read_pointer_update = 64}, options, 1,
              {.size = 1000, .messages = 3, .arguments = 14}, false);
    CHECK(outcome.most_partial > 30);
    CHECK(outcome.dropped == 0);
  }
}

TEST_CASE("extoll_mailbox_that_overflows_loses_nothing") {
  for (const AmOptions& options : {AmOptions::improved(), AmOptions::early()}) {
    const Outcome outcome =
        crowd({.ranks = 40, .topology = "mesh2d:5x4"}, {.mailbox_slots = 4, .read_pointer_update = 4}, options, 1,
              {.size = 8192, .messages = 2, .late = {500'000'000}}, false);
    CHECK(outcome.held > 1000);
    CHECK(outcome.rank0.most_held > 100);
    CHECK(outcome.rank0.deepest_mailbox == 4);
    CHECK(outcome.dropped == 0);
  }
}

// Every rank is blocked in a request or a reply while its own mailbox overflows.
TEST_CASE("extoll_all_to_all_with_replies_through_tiny_mailboxes_ends_the_same_every_time") {
  for (const AmOptions& options : kAllWays) {
    const ExtollParameters tiny{.mailbox_slots = 3, .read_pointer_update = 2};
    const auto run = [&](bool strict, unsigned threads) {
      return crowd({.ranks = 12, .topology = "mesh2d:3x2", .strict = strict, .threads = threads}, tiny, options, 12,
                   {.size = 2000, .messages = 3, .arguments = 16}, true);
    };
    const Outcome lazy = run(false, 1);
    CHECK(lazy.held > 0);
    CHECK(lazy.dropped == 0);
    CHECK(lazy.clocks == run(true, 1).clocks);
    CHECK(lazy.clocks == run(false, 2).clocks);
  }
}

// Credits and replies of all pairs share cards and mailboxes with the requests that they answer.
TEST_CASE("extoll_all_to_all_with_few_requests_outstanding_ends_the_same_every_time") {
  for (const unsigned outstanding : {1U, 2U, 3U}) {
    for (AmOptions options : {AmOptions::improved(), AmOptions::early()}) {
      options.node_by_memory = outstanding == 2;
      options.outstanding = outstanding;
      const ExtollParameters tiny{.mailbox_slots = 3, .read_pointer_update = 2};
      const auto run = [&](const Plan& plan, bool strict, unsigned threads) {
        return crowd({.ranks = 8, .topology = "mesh2d:2x2", .strict = strict, .threads = threads}, tiny, options, 8,
                     plan, true);
      };
      for (const Category category : {Category::medium, Category::long_message}) {
        CAPTURE(outstanding);
        CAPTURE(options.packed);
        CAPTURE(category == Category::medium);
        const Plan plan{.category = category, .size = 300, .messages = 7, .arguments = 3};
        const Outcome lazy = run(plan, false, 1);
        CHECK(lazy.dropped == 0);
        CHECK(lazy.clocks == run(plan, true, 1).clocks);
        CHECK(lazy.clocks == run(plan, false, 2).clocks);
      }
    }
  }
}

TEST_CASE("extoll_notifications_of_longs_are_never_lost") {
  const Outcome outcome = crowd(
      {.ranks = 20, .topology = "mesh2d:5x4"}, {.mailbox_slots = 4, .read_pointer_update = 2, .notification_slots = 1},
      AmOptions::improved(), 2, {.category = Category::long_message, .size = 700, .messages = 10}, true);
  CHECK(outcome.rank0.held_back > 0);
  CHECK(outcome.rank0.notifications >= 190);
  CHECK(outcome.dropped == 0);
}

}  // namespace
}  // namespace gasmeter::networks::extoll::overflow_test

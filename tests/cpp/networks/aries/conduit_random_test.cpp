// Random programs of several ranks. All resources come back, and a rank that runs ahead sees the same as one that does
// not.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "networks/aries/conduit_job.hpp"
#include "support/conduit_calls.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::aries::conduit_random_test {
namespace {

using namespace testing;
using conduit::AmHeader;
using conduit::AmView;
using conduit::Category;
using conduit::kNoOperation;
using conduit::OperationId;
using conduit::PollFilter;
using gasmeter::testing::has_pattern;
using gasmeter::testing::header_to;
using gasmeter::testing::patterned;
using gasmeter::testing::Sink;
using gasmeter::testing::try_send;
using gasmeter::testing::wait;

struct Run {
  std::vector<std::int64_t> ends;  // by rank
  unsigned asked = 0;
  unsigned answers = 0;
  bool operator==(const Run&) const = default;
};

constexpr std::int32_t kDone = -1;

// Each rank sends messages of all kinds to all ranks, also to itself, with puts between. A third of the messages are
// answered. A rank whose own messages are all sent and answered tells the others.
constexpr unsigned kRanks = 5;

Run run_program(Shape shape, bool strict, unsigned seed, const AriesOptions& options,
                const AriesParameters& parameters = {}) {
  constexpr unsigned kEach = 60;
  shape.ranks = kRanks;
  shape.strict = strict;
  Job job(shape, options, parameters);
  Run run{std::vector<std::int64_t>(kRanks), 0, 0};
  for (unsigned rank = 0; rank < kRanks; ++rank) {
    job.engine.start(Rank{rank}, [&, rank] {
      AriesConduit& conduit = *job.conduits[rank];
      sim::ModelHost host = job.host(rank);
      std::mt19937 random(seed * 100 + rank);
      const std::vector<std::byte> outside = patterned(30'000, rank);
      unsigned answers_due = 0;
      unsigned answers = 0;
      unsigned dones = 0;
      std::size_t over_inside = 0;  // puts, while a handler waited
      Sink sink([&](const AmView& message) {
        if (message.arguments[0] == kDone) {
          ++dones;
          return;
        }
        const auto mark = static_cast<unsigned>(message.arguments[0]);
        if (message.size != 0) CHECK(has_pattern(message.payload, message.size, mark));
        if (!message.is_request) {
          ++answers;
          return;
        }
        ++run.asked;
        if (mark % 3 != 0) return;
        AmHeader header = header_to(index(message.source), message.category, 1, true);
        header.cookie = message.cookie;
        const std::array<std::int32_t, 1> words{static_cast<std::int32_t>(mark + 1)};
        const std::vector<std::byte> payload = patterned(message.size, mark + 1);
        Sink inner([&](const AmView& reply) {
          CHECK_FALSE(reply.is_request);
          ++answers;
        });
        wait(
            conduit, host, inner,
            [&] {
              return try_send(conduit, header, words, payload,
                              job.segment(index(message.source), 100'000 + rank * 20'000)) == Status::ok;
            },
            PollFilter::replies_only);
        over_inside += inner.done.size();
      });
      const auto has_all_back = [&] { return conduit.is_quiet() && conduit.free_reply_slots() == options.reply_slots; };
      const auto over = [&] { return sink.done.size() + over_inside; };
      for (unsigned i = 0; i < kEach; ++i) {
        const auto to = static_cast<unsigned>(random() % kRanks);
        const unsigned mark = rank * 1000 + i;
        const auto category = static_cast<Category>(random() % 3);
        const Bytes most = category == Category::medium ? options.medium : 12'000;
        const Bytes size = category == Category::short_message ? 0 : random() % most;
        const std::vector<std::byte> payload = patterned(size, mark);
        const std::array<std::int32_t, 1> words{static_cast<std::int32_t>(mark)};
        if (mark % 3 == 0) ++answers_due;
        // A rank's Longs to a peer go to the same place, so that the next one waits for the end of the last.
        wait(conduit, host, sink, [&] {
          return try_send(conduit, header_to(to, category, 1), words, payload, job.segment(to, rank * 20'000)) ==
                 Status::ok;
        });
        if (category == Category::long_message) {
          wait(conduit, host, sink, has_all_back);
        }
        if (random() % 2 == 0) {
          const Bytes bytes = random() % 20'000;
          const std::size_t before = over();
          wait(conduit, host, sink, [&] {
            return conduit.put(Rank{to}, job.segment(to, 210'000), outside.data(), bytes, OperationId{1},
                               kNoOperation) == Status::ok;
          });
          wait(conduit, host, sink, [&] { return over() > before; });
        }
      }
      wait(conduit, host, sink, has_all_back);
      for (unsigned peer = 0; peer < kRanks; ++peer) {
        wait(conduit, host, sink, [&] {
          return try_send(conduit, header_to(peer, Category::short_message, 1), std::array{kDone}) == Status::ok;
        });
      }
      wait(conduit, host, sink, [&] { return dones == kRanks && has_all_back(); });
      CHECK(answers == answers_due);
      run.answers += answers;
      run.ends[rank] = host.now().ps;
    });
  }
  job.engine.run();
  CHECK(run.asked == kRanks * kEach);
  for (unsigned rank = 0; rank < kRanks; ++rank) {
    CAPTURE(rank);
    AriesConduit& conduit = *job.conduits[rank];
    CHECK(conduit.free_reply_slots() == options.reply_slots);
    CHECK(conduit.is_quiet());
    CHECK(conduit.descriptors().free_bounces() == options.bounce_buffers);
    for (unsigned peer = 0; peer < kRanks; ++peer) CHECK(conduit.slots().used(Rank{peer}) == 0);
  }
  return run;
}

const Shape& three_cards() {
  static const Shape all{.topology = "crossbar:3", .node_of = {0, 0, 1, 1, 2}};
  return all;
}

TEST_CASE("aries_conduit_random_programs_keep_nothing_and_do_not_depend_on_who_runs_ahead") {
  const std::vector<AriesOptions> all = {
      {},
      {.request_area = 4096, .reply_slots = 2, .descriptors = 32, .bounce_buffers = 1, .registrations = 1},
      {.medium = 65472, .fma_cutover = 0}};
  for (const AriesOptions& options : all) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      CAPTURE(options.medium);
      CAPTURE(options.reply_slots);
      CAPTURE(seed);
      const Run lazy = run_program(three_cards(), false, seed, options);
      CHECK(lazy == run_program(three_cards(), true, seed, options));
      CHECK(lazy.answers == 100);
    }
  }
}

// Some of a router's cards share a link to the other router. Packets go by the third router and overtake each other.
TEST_CASE("aries_conduit_random_programs_do_not_count_on_the_order_of_packets") {
  const Shape busy{.topology = "xc:1x1x3", .node_of = {0, 1, 2, 3, 4}};
  AriesParameters unordered;
  unordered.flow = sim::kUnordered;
  unordered.grain = 64;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    const Run lazy = run_program(busy, false, seed, {}, unordered);
    CHECK(lazy == run_program(busy, true, seed, {}, unordered));
    CHECK(lazy.answers == 100);
    CHECK(lazy.ends != run_program(busy, false, seed, {}).ends);
  }
}

}  // namespace
}  // namespace gasmeter::networks::aries::conduit_random_test

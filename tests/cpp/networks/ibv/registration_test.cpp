// Memory outside the segment that put and get register instead of copying it, and memory that a program pins.
// tests/golden/ibv.md derives the golden times.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/ibv/ibv_conduit.hpp"
#include "networks/ibv/conduit_job.hpp"
#include "support/effort.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::ibv::registration_test {
namespace {

using namespace testing;
using conduit::kNoOperation;
using conduit::OperationId;
using conduit::Pin;
using gasmeter::testing::has_pattern;
using gasmeter::testing::write_pattern;

constexpr conduit::Price kRegistration{{1'000'000}, 50'000};  // 204.8 ns a page

class Sink final : public conduit::Delivery {
 public:
  void arrived(const conduit::AmView& /*message*/) override {}
  void completed(OperationId /*operation*/) override { ++done; }
  unsigned done = 0;
};

void wait(Job& job, unsigned rank, Sink& sink, unsigned until) {
  while (sink.done < until) {
    if (job.conduits[rank]->poll(sink, 16, conduit::PollFilter::everything) == 0) job.host(rank).idle(kNever);
  }
}

// Return how long rank 0 takes from a put into rank 1's segment to its completion.
std::int64_t put_time(Job& job, const std::byte* from, Bytes bytes) {
  const SimTime begin = job.host(0).now();
  Sink sink;
  CHECK(job.conduits[0]->put(Rank{1}, job.segments[1].data(), from, bytes, OperationId{1}, kNoOperation) == Status::ok);
  wait(job, 0, sink, 1);
  return (job.host(0).now() - begin).ps;
}

TEST_CASE("ibv_put_from_outside_the_segment_costs_a_registration_once") {
  for (const bool strict : {false, true}) {
    CAPTURE(strict);
    Job job({.strict = strict, .registration = kRegistration}, {.pins_outside = true});
    std::vector<std::byte> outside(8'192);
    write_pattern(outside.data(), outside.size(), 5);
    job.engine.start(Rank{0}, [&] {
      const std::int64_t of_segment = put_time(job, job.segments[0].data(), outside.size());
      // In both cases the wait ends with a whole missed poll of 10 ns.
      CHECK(put_time(job, outside.data(), outside.size()) == of_segment + 1'000'000 + 2 * 204'800);
      CHECK(has_pattern(job.segments[1].data(), outside.size(), 5));
      CHECK(put_time(job, outside.data(), outside.size()) == of_segment);
      CHECK(job.conduits[0]->registrations().hits == 1);
    });
    job.engine.run();
  }
}

TEST_CASE("ibv_pinned_memory_is_reached_straight_whatever_the_option") {
  Job job({.registration = kRegistration}, {.pins = {.pages = 3}});
  std::vector<std::byte> outside(8'192);
  std::vector<std::byte> other(8'192);
  job.engine.start(Rank{0}, [&] {
    const std::int64_t of_segment = put_time(job, job.segments[0].data(), outside.size());
    const std::int64_t copied = put_time(job, outside.data(), outside.size());
    CHECK(copied > of_segment);
    const SimTime begin = job.host(0).now();
    Pin pinned{};
    CHECK(job.conduits[0]->pin(outside, pinned) == Status::ok);
    CHECK((job.host(0).now() - begin).ps == 1'000'000 + 2 * 204'800);
    CHECK(put_time(job, outside.data(), outside.size()) == of_segment);
    Pin refused{};
    CHECK(job.conduits[0]->pin(other, refused) == Status::no_resource);
    job.conduits[0]->unpin(pinned);
    CHECK_THROWS_WITH_AS(job.conduits[0]->unpin(pinned),
                         "ibv: memory 0 is unpinned, which is not pinned; unpin each pin once", UsageError);
    CHECK(put_time(job, outside.data(), outside.size()) == copied);
    CHECK(job.conduits[0]->pin(other, refused) == Status::ok);
  });
  job.engine.run();
}

TEST_CASE("ibv_memory_that_was_freed_is_registered_anew") {
  Job job({.registration = kRegistration}, {.pins_outside = true});
  std::vector<std::byte> outside(8'192);
  job.engine.start(Rank{0}, [&] {
    const std::int64_t first = put_time(job, outside.data(), outside.size());
    const SimTime begin = job.host(0).now();
    job.conduits[0]->forget(outside);
    CHECK((job.host(0).now() - begin).ps == 500'000);  // the registration is undone at once
    CHECK(put_time(job, outside.data(), outside.size()) == first);
    CHECK(job.conduits[0]->registrations().hits == 0);
  });
  job.engine.run();
}

// The end of each rank, and the counters of its cache. `shift` moves all memory outside segments.
struct End {
  std::int64_t at;
  services::CacheCounters registrations;
  bool operator==(const End&) const = default;
};

std::vector<End> random_program(std::uint64_t seed, const Shape& shape, std::size_t shift) {
  constexpr std::size_t kObjects = 5;
  constexpr Bytes kObject = 20'000;
  // Fewer steps would leave no transfer that finds the cache full.
  const std::uint64_t steps = std::max<std::uint64_t>(40, gasmeter::testing::rounds(60));
  Job job(shape, {.pins_outside = true, .pins = {.pages = 11, .regions = 4}});
  std::vector<std::vector<std::vector<std::byte>>> memory(shape.ranks);
  for (unsigned rank = 0; rank < shape.ranks; ++rank) {
    for (std::size_t i = 0; i < kObjects; ++i) memory[rank].emplace_back(kObject + shift * (i + 1));
  }
  std::vector<End> ends(shape.ranks);
  for (unsigned rank = 0; rank < shape.ranks; ++rank) {
    job.engine.start(Rank{rank}, [&, rank] {
      std::mt19937_64 random(seed * 100 + rank);
      const auto below = [&](std::uint64_t end) { return random() % end; };
      IbvConduit& conduit = *job.conduits[rank];
      Sink sink;
      unsigned begun = 0;
      for (std::uint64_t step = 0; step < steps; ++step) {
        const std::size_t object = below(kObjects);
        const Bytes offset = below(10'000);
        const Bytes bytes = 4'500 + below(5'000);
        std::byte* const local = memory[rank][object].data() + shift * (object + 1) + offset;
        const auto peer = static_cast<std::uint32_t>(below(shape.ranks));
        std::byte* const remote = job.segments[peer].data() + below(1'000);
        const bool is_put = below(2) == 0;
        const auto start = [&] {
          return is_put ? conduit.put(Rank{peer}, remote, local, bytes, OperationId{1}, kNoOperation)
                        : conduit.get(Rank{peer}, local, remote, bytes, OperationId{1});
        };
        while (start() != Status::ok) wait(job, rank, sink, sink.done + 1);
        if (++begun - sink.done == 4) wait(job, rank, sink, begun - static_cast<unsigned>(below(4)));
      }
      wait(job, rank, sink, begun);
      ends[rank] = {job.host(rank).now().ps, conduit.registrations()};
    });
  }
  job.engine.run();
  return ends;
}

TEST_CASE("ibv_registrations_are_the_same_on_all_threads_strictly_and_wherever_memory_lies") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    Shape shape{.ranks = 4, .topology = "crossbar:4", .registration = kRegistration};
    const std::vector<End> expected = random_program(seed, shape, 0);
    std::uint64_t hits = 0;
    std::uint64_t unpins = 0;
    std::uint64_t refused = 0;
    for (const End& end : expected) {
      hits += end.registrations.hits;
      unpins += end.registrations.unpins;
      refused += end.registrations.refused;
    }
    CHECK((hits > 0 && unpins > 0 && refused > 0));  // the program has met all three cases
    CHECK(random_program(seed, shape, 24) == expected);
    shape.strict = true;
    CHECK(random_program(seed, shape, 1'000) == expected);
    shape.strict = false;
    for (shape.threads = 2; shape.threads <= 4; ++shape.threads) {
      CAPTURE(shape.threads);
      CHECK(random_program(seed, shape, 48) == expected);
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::ibv::registration_test

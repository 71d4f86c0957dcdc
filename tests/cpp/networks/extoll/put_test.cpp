// Puts by the RMA unit: when a source may change, and when the bytes have arrived. tests/golden/extoll.md derives the
// times.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "conduit_job.hpp"

namespace gasmeter::networks::extoll::put_test {
namespace {

using namespace testing;
using conduit::kAtReturn;
using conduit::kNoOperation;
using conduit::OperationId;
using gasmeter::testing::has_pattern;

constexpr OperationId kRoot{1};
constexpr OperationId kLeaf{2};

AmOptions rma_puts() {
  AmOptions options;
  options.rma_puts = true;
  return options;
}

// One put of rank 0 to rank 1, which does not poll. The source is overwritten as soon as it may be.
struct Times {
  std::int64_t returned = 0;
  std::int64_t leaf = 0;  // 0: the caller did not ask for it
  std::int64_t root = 0;
  bool operator==(const Times&) const = default;
};

Times times_of(Bytes bytes, bool from_segment, OperationId local, const Shape& shape = {}) {
  Job job(shape, kRoomy, rma_puts());
  std::byte* const target = job.segment(1, bytes);
  std::vector<std::byte> elsewhere(bytes);
  std::byte* const source = from_segment ? job.segment(0, bytes) : elsewhere.data();
  Times times;
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.host(0);
    conduit::Conduit& conduit = *job.conduits[0];
    gasmeter::testing::write_pattern(source, bytes, 5);
    CHECK(conduit.put(Rank{1}, target, source, bytes, kRoot, local) == Status::ok);
    times.returned = host.now().ps;
    Sink sink;
    if (local == kAtReturn) std::memset(source, 0xff, bytes);
    if (local == kLeaf) {
      wait(conduit, host, sink, [&] { return !sink.done.empty(); });
      CHECK(sink.done == std::vector{kLeaf});
      times.leaf = host.now().ps;
      std::memset(source, 0xff, bytes);
    }
    wait(conduit, host, sink, [&] { return !sink.done.empty() && sink.done.back() == kRoot; });
    times.root = host.now().ps;
    CHECK(has_pattern(target, bytes, 5));
  });
  job.engine.run();
  return times;
}

TEST_CASE("extoll_put_by_rma_is_complete_at_either_side_in_its_golden_time") {
  CHECK(times_of(8, true, kNoOperation) == Times{158'000, 0, 2'328'000});
  CHECK(times_of(8, true, kLeaf) == Times{158'000, 718'000, 2'328'000});
  CHECK(times_of(100, true, kAtReturn) == Times{178'000, 0, 2'618'000});
  CHECK(times_of(100, false, kLeaf).leaf == 178'000);  // copied: the next poll reports it at no price
}

TEST_CASE("extoll_put_by_rma_leaves_its_source_alone_long_before_it_is_complete") {
  const Times large = times_of(30'000, true, kLeaf);
  CHECK(large.leaf < large.root);
  CHECK(times_of(30'000, true, kLeaf, {.strict = true}) == large);
  CHECK(times_of(30'000, true, kLeaf, {.threads = 2}) == large);
  // A copy frees the source sooner, and takes the rank's own time.
  const Times copied = times_of(30'000, true, kAtReturn);
  CHECK(copied.returned > large.returned);
  CHECK(copied.root > large.root);
}

TEST_CASE("extoll_more_puts_by_rma_than_the_card_takes_all_arrive") {
  constexpr Bytes kBytes = 2000;
  constexpr unsigned kPuts = 200;
  Job job({}, kRoomy, rma_puts());
  std::byte* const target = job.segment(1, kPuts * kBytes);
  std::byte* const source = job.segment(0, kBytes);
  unsigned refused = 0;
  job.engine.start(Rank{0}, [&] {
    Sink sink;
    for (unsigned i = 0; i < kPuts; ++i) {
      gasmeter::testing::write_pattern(source, kBytes, i);
      const OperationId local = i % 8 == 7 ? kLeaf : kAtReturn;
      wait(*job.conduits[0], job.host(0), sink, [&] {
        const bool taken =
            job.conduits[0]->put(Rank{1}, target + i * kBytes, source, kBytes, kRoot, local) == Status::ok;
        refused += taken ? 0 : 1;
        return taken;
      });
      if (local == kAtReturn) continue;
      const auto leaves = [&] { return std::count(sink.done.begin(), sink.done.end(), kLeaf); };
      wait(*job.conduits[0], job.host(0), sink, [&] { return leaves() == i / 8 + 1; });
    }
    wait(*job.conduits[0], job.host(0), sink, [&] { return sink.done.size() == kPuts + kPuts / 8; });
  });
  job.engine.run();
  CHECK(refused != 0);
  for (unsigned i = 0; i < kPuts; ++i) CHECK(has_pattern(target + i * kBytes, kBytes, i));
}

}  // namespace
}  // namespace gasmeter::networks::extoll::put_test

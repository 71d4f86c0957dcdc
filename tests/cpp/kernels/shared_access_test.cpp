// Kernel shared-access in virtual time: its counters, its options, and its checks of data.
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/run/model_job.hpp"
#include "jobs.hpp"

namespace gasmeter::kernels::testing::shared_access_test {
namespace {

using conduit::Count;
using SharedOptions = std::map<std::string, std::string>;

run::Request shared_access(const std::string& op, Bytes size, const SharedOptions& options, std::uint32_t ranks = 3) {
  static const Registry registry = Registry::with_all_kernels();
  return run::Request::check(registry, {"shared-access", op, "ideal", "", size, 42, ranks, options});
}

struct SharedRun {
  double latency = 0;
  std::map<Count, std::uint64_t> counted;
};
SharedRun measured(const std::string& op, Bytes size, SharedOptions options, std::uint64_t operations = 20) {
  options["nodes"] = "3";
  run::ModelJob job(shared_access(op, size, options));
  SharedRun run;
  for (const auto& [name, value] : job.run(operations).metrics) {
    if (name == "latency") run.latency = value;
  }
  for (const Count each :
       {Count::lookups, Count::hits, Count::misses, Count::entries, Count::pins, Count::evictions,
        Count::remote_accesses, Count::local_accesses, Count::waits, Count::seeded_lookups, Count::seeded_hits}) {
    REQUIRE(job.counts().of(each));
    run.counted[each] = *job.counts().of(each);
  }
  const Verification verification = job.verify();
  CHECK(verification.checked >= 4 * size);
  CHECK(verification.errors == 0);
  return run;
}

TEST_CASE("shared_access_counts_what_is_timed_and_nothing_else") {
  SharedRun run = measured("get", 8, {});
  CHECK(run.counted[Count::lookups] == 20);
  CHECK(run.counted[Count::hits] == 20);
  CHECK(run.counted[Count::entries] == 20);  // one entry each time
  CHECK(run.counted[Count::pins] == 0);      // at rank 0, whose memory nobody accesses
  CHECK(run.counted[Count::seeded_lookups] == 20);
  CHECK(run.counted[Count::seeded_hits] == 20);
  CHECK(run.counted[Count::remote_accesses] == 20);
  CHECK(run.counted[Count::local_accesses] == 0);
  CHECK(run.counted[Count::waits] == static_cast<std::uint64_t>(20 * run.latency + 0.5));
  run = measured("get", 8, {{"warm", "false"}});
  CHECK(run.counted[Count::hits] == 19);
  CHECK(run.counted[Count::misses] == 1);
  run = measured("get", 8, {{"cache", "off"}});
  CHECK(run.counted[Count::lookups] == 0);
  CHECK(run.counted[Count::remote_accesses] == 20);
  run = measured("put", 8, {{"cached_puts", "false"}});
  CHECK(run.counted[Count::lookups] == 0);
}

// This host has no price for a look-up: a hit takes as long as the operation.
TEST_CASE("shared_access_to_known_addresses_is_core_s_own") {
  for (const std::string op : {"get", "put"}) {
    CAPTURE(op);
    const SharedRun known = measured(op, 8, {{"cache", "known"}, {"objects", "3"}});
    const SharedRun cached = measured(op, 8, {{"objects", "3"}});
    CHECK(known.counted.at(Count::lookups) == 0);
    CHECK(known.counted.at(Count::remote_accesses) == 0);
    CHECK(known.latency > 0);
    CHECK(known.latency == cached.latency);
    if (op == "get") CHECK(known.latency < measured(op, 8, {{"cache", "off"}, {"objects", "3"}}).latency);
  }
  CHECK_THROWS_WITH_AS(shared_access("get", 8, {{"cache", "known"}, {"pinning", "chunks"}}),
                       "kernel shared-access: option 'cache=known': addresses of pieces (pinning=chunks) are not known",
                       UsageError);
}

// With one entry fewer than objects, the wanted entry has always gone under lru, and not always under random
// replacement.
TEST_CASE("more_objects_than_entries_in_turn_never_hit_with_lru") {
  SharedRun run = measured("get", 8, {{"objects", "5"}, {"capacity", "4"}});
  CHECK(run.counted[Count::hits] == 0);
  CHECK(run.counted[Count::evictions] == 20);
  CHECK(run.counted[Count::entries] == 80);
  run = measured("get", 8, {{"objects", "5"}, {"capacity", "4"}, {"replacement", "random"}});
  CHECK(run.counted[Count::hits] > 0);
  CHECK(run.counted[Count::hits] < 20);
  run = measured("get", 8, {{"objects", "5"}, {"capacity", "unlimited"}});
  CHECK(run.counted[Count::hits] == 20);
}

TEST_CASE("cached_accesses_are_faster_than_uncached_ones_and_misses_slower") {
  const double hit = measured("get", 8, {}).latency;
  const double uncached = measured("get", 8, {{"cache", "off"}}).latency;
  const double miss = measured("get", 8, {{"cache", "miss"}}).latency;
  CHECK(hit < uncached);
  CHECK(uncached < miss);
  CHECK(measured("get", 65536, {}).latency < measured("get", 65536, {{"cache", "off"}}).latency);
  CHECK(measured("put", 8, {{"put", "native"}}).latency > 0);
}

TEST_CASE("pieces_have_entries_of_their_own") {
  const SharedRun run = measured("get", 8192, {{"pinning", "chunks"}, {"chunk", "1024"}}, 4);
  CHECK(run.counted.at(Count::lookups) == 4 * 8);  // 8192 bytes are eight pieces
  CHECK(run.counted.at(Count::hits) == 4 * 8);
}

TEST_CASE("near_says_whether_ranks_of_a_node_share_memory") {
  for (const std::string near : {"direct", "remote"}) {
    run::ModelJob job(shared_access("get", 8, {{"near", near}, {"nodes", "1"}}));
    (void)job.run(10);
    CHECK(*job.counts().of(Count::local_accesses) == (near == "direct" ? 10U : 0U));
    CHECK(*job.counts().of(Count::remote_accesses) == (near == "direct" ? 0U : 10U));
    CHECK(job.verify().errors == 0);
  }
  CHECK(shared_access("get", 8, {}).settings.flag("neighbourhood"));
  CHECK_FALSE(shared_access("get", 8, {{"near", "remote"}}).settings.flag("neighbourhood"));
  CHECK_THROWS_AS((void)shared_access("get", 8, {{"neighbourhood", "false"}}), UsageError);
}

TEST_CASE("shared_access_refuses_what_no_cache_can_be") {
  for (const SharedOptions& options :
       {SharedOptions{{"capacity", "0"}}, SharedOptions{{"capacity", "many"}}, SharedOptions{{"chunk", "0"}},
        SharedOptions{{"copy_limit", "-1"}}, SharedOptions{{"objects", "0"}}, SharedOptions{{"cache", "maybe"}}}) {
    CHECK_THROWS_AS((void)shared_access("get", 8, options), UsageError);
  }
}

TEST_CASE("shared_access_on_real_ranks_moves_the_right_bytes") {
  for (const char* op : {"get", "put"}) {
    for (const char* near : {"direct", "remote"}) {
      for (const char* cache : {"on", "off", "miss"}) {
        static const Registry registry = Registry::with_all_kernels();
        Trial trial{run::Request::check(
            registry,
            {"shared-access", op, "smp", "", 100, 42, 2, {{"near", near}, {"cache", cache}, {"objects", "3"}}})};
        const Verification verification = try_on_threads<RealHost>(trial, trial.request.kernel->make_real);
        CHECK(verification.checked >= 400);
        CHECK(verification.errors == 0);
        trial.tamper = {};
        CHECK(try_on_threads<ThreadedHost>(trial, trial.request.kernel->make_threaded).errors == 0);
      }
    }
  }
}

}  // namespace
}  // namespace gasmeter::kernels::testing::shared_access_test

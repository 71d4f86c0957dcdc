// One way and the way back where they differ: tests/golden/kernels.md has the sums.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/run/model_job.hpp"
#include "jobs.hpp"

namespace gasmeter::kernels::testing::one_way_test {
namespace {

using Options = std::map<std::string, std::string>;
using Metrics = std::map<std::string, double>;

run::Request asked(const std::string& op, Bytes size, const Options& options, const std::string& conduit = "ideal",
                   std::uint32_t ranks = 2) {
  static const Registry registry = Registry::with_all_kernels();
  return run::Request::check(registry, {"one-way", op, conduit, "", size, 42, ranks, options});
}

// Return the metrics of a first block, whose data verify; the same lazily and strictly.
Metrics measured(const std::string& op, Bytes size, Options options, std::uint64_t operations = 1) {
  Metrics one_way[2];
  for (const bool strict : {false, true}) {
    options["sync"] = strict ? "strict" : "lazy";
    run::ModelJob job(asked(op, size, options));
    const BlockResult block = job.run(operations);
    one_way[strict ? 1 : 0] = Metrics(block.metrics.begin(), block.metrics.end());
    const Verification verified = job.verify();
    CHECK(verified.checked > 0);
    CHECK(verified.errors == 0);
    CHECK(job.resolved()["clock"] == (options.contains("clock") ? options["clock"] : "shared"));
  }
  CHECK(one_way[0] == one_way[1]);
  return one_way[0];
}

TEST_CASE("one_clock_tells_a_slow_way_from_a_fast_one_as_the_sums_say") {
  CHECK(measured("am-short", 0, {}) == Metrics{{"latency", 1460}, {"latency_back", 1460}, {"round_trip", 2920}});
  const Options slow_back{{"latency_back", "3000"}};
  CHECK(measured("am-short", 0, slow_back) == Metrics{{"latency", 1460}, {"latency_back", 3460}, {"round_trip", 4920}});
  CHECK(measured("am-medium", 100, slow_back) ==
        Metrics{{"latency", 1580}, {"latency_back", 3580}, {"round_trip", 5160}});
  CHECK(measured("am-long", 100, slow_back) ==
        Metrics{{"latency", 1600}, {"latency_back", 3600}, {"round_trip", 5200}});
  CHECK(measured("put", 100, {{"latency_back", "3000"}, {"put", "native"}, {"local", "segment"}}) ==
        Metrics{{"latency", 5880}, {"latency_back", 7880}, {"round_trip", 13760}});
}

TEST_CASE("a_fast_way_back_is_told_likewise") {
  CHECK(measured("am-short", 0, {{"latency_back", "200"}}) ==
        Metrics{{"latency", 1460}, {"latency_back", 660}, {"round_trip", 2120}});
}

TEST_CASE("exchanges_find_the_mean_of_both_ways_and_a_bound_that_holds_the_truth") {
  const Metrics one_way = measured("am-short", 0, {{"latency_back", "3000"}, {"clock", "exchanged"}});
  CHECK(one_way == Metrics{{"latency", 2460}, {"latency_back", 2460}, {"round_trip", 4920}, {"uncertainty", 2470}});
}

// The bound holds for every message, and whichever way is slower.
TEST_CASE("what_exchanges_find_is_off_by_no_more_than_their_bound") {
  for (const char* op : {"am-short", "am-medium", "am-long", "put"}) {
    for (const char* back : {"10", "500", "1000", "7003", "90000"}) {
      CAPTURE(op);
      CAPTURE(back);
      Options options{{"latency_back", back}};
      Metrics truth = measured(op, 64, options, 20);
      options["clock"] = "exchanged";
      options["exchanges"] = "5";
      Metrics one_way = measured(op, 64, options, 20);
      CHECK(std::abs(one_way["latency"] - truth["latency"]) <= one_way["uncertainty"]);
      CHECK(std::abs(one_way["latency_back"] - truth["latency_back"]) <= one_way["uncertainty"]);
      CHECK(one_way["latency"] + one_way["latency_back"] == doctest::Approx(one_way["round_trip"]).epsilon(1e-12));
      // The bound is half of the round trip of the shortest message.
      CHECK(one_way["uncertainty"] <= measured("am-short", 0, {{"latency_back", back}})["round_trip"] / 2 + 25);
    }
  }
}

TEST_CASE("real_ranks_read_one_clock_and_both_ways_make_up_the_round_trip") {
  for (const char* clock : {"auto", "shared", "exchanged"}) {
    for (const char* op : {"am-short", "am-medium", "am-long", "put"}) {
      CAPTURE(clock);
      CAPTURE(op);
      const Trial trial{.request = asked(op, 64, {{"clock", clock}}, "smp", 3)};
      const Verification verification = try_on_threads(trial, trial.request.kernel->make_real);
      CHECK(verification.checked > 0);
      CHECK(verification.errors == 0);
    }
  }
}

TEST_CASE("a_number_of_exchanges_that_is_none_is_refused") {
  for (const char* exchanges : {"0", "-1", "100001"}) {
    CHECK_THROWS_WITH_AS(
        (void)asked("am-short", 0, {{"exchanges", exchanges}}),
        (std::string("kernel one-way: option 'exchanges=") + exchanges + "': allowed are 1 to 100000").c_str(),
        UsageError);
  }
}

}  // namespace
}  // namespace gasmeter::kernels::testing::one_way_test

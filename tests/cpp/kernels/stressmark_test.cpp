// Stressmarks of several ranks give the result of the program of one process, on every kind of host, and are charged
// for their computation.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/run/model_job.hpp"
#include "jobs.hpp"

namespace gasmeter::kernels::testing::stressmark_test {
namespace {

using Options = std::map<std::string, std::string>;
using conduit::Count;

constexpr const char* kOps[] = {"pointer", "update", "neighborhood", "field"};

run::Request marked(const std::string& op, std::uint32_t ranks, Options options, const std::string& conduit = "ideal",
                    std::uint64_t seed = 42) {
  static const Registry registry = Registry::with_all_kernels();
  // Inputs are small, so that many accesses are remote.
  const Options small{{"words", "64"}, {"rows", "7"}, {"columns", "30"}, {"bytes", "900"}, {"width", "2"}};
  for (const auto& [name, value] : small) options.emplace(name, value);
  if (conduit == "ideal") options.emplace("nodes", std::to_string((ranks + 1) / 2));
  return run::Request::check(registry, {"stressmark", op, conduit, "", 0, seed, ranks, options});
}

struct Ran {
  bench::BlockResult block;
  bench::Verification verification;
  std::map<Count, std::uint64_t> counts;
};

Ran ran(const run::Request& request, std::uint64_t iterations) {
  run::ModelJob job(request);
  Ran result;
  result.block = job.run(iterations);
  const conduit::Counts counts = job.counts();
  for (const Count each : {Count::lookups, Count::hits, Count::entries, Count::remote_accesses, Count::local_accesses,
                           Count::waits, Count::seeded_lookups, Count::seeded_hits}) {
    result.counts[each] = counts.of(each).value_or(0);
  }
  result.verification = job.verify();
  return result;
}

TEST_CASE("stressmarks_in_virtual_time_come_to_what_one_process_does") {
  for (const char* op : kOps) {
    for (const std::uint32_t ranks : {1U, 2U, 3U, 5U, 16U}) {
      for (const Options& options : {Options{}, Options{{"cache", "off"}}, Options{{"cache", "miss"}},
                                     Options{{"near", "remote"}, {"capacity", "2"}, {"window", "3"}, {"width", "1"}},
                                     Options{{"window", "5"}, {"short_distance", "1"}, {"width", "8"}}}) {
        CAPTURE(op);
        CAPTURE(ranks);
        CAPTURE(options);
        const Ran result = ran(marked(op, ranks, options), 40);
        CHECK(result.verification.errors == 0);
        CHECK(result.verification.checked > 0);
        CHECK(result.verification.allowed == 0);
      }
    }
  }
}

TEST_CASE("stressmarks_take_the_same_time_however_ranks_are_synchronised") {
  for (const char* op : kOps) {
    for (const char* handlers : {"poll", "interrupt"}) {
      CAPTURE(op);
      CAPTURE(handlers);
      const Options lazy{{"handlers", handlers}, {"instruction", "1"}, {"sync", "lazy"}};
      Options strict = lazy;
      strict["sync"] = "strict";
      CHECK(ran(marked(op, 6, lazy), 20).block.elapsed.ps == ran(marked(op, 6, strict), 20).block.elapsed.ps);
    }
  }
}

TEST_CASE("stressmarks_on_real_ranks_come_to_what_one_process_does") {
  for (const char* op : kOps) {
    for (const std::uint32_t ranks : {1U, 2U, 5U}) {
      CAPTURE(op);
      CAPTURE(ranks);
      Trial trial{.request = marked(op, ranks, {{"window", "3"}}, "smp"), .iterations = 40};
      const Verification real = try_on_threads(trial, trial.request.kernel->make_real);
      CHECK(real.errors == 0);
      CHECK(real.checked > 0);
      CHECK(try_on_threads(trial, trial.request.kernel->make_threaded).errors == 0);
      if (ranks == 1) continue;
      trial.seeds_differ = true;  // every rank adds its part of another input
      CHECK(try_on_threads(trial, trial.request.kernel->make_real).errors != 0);
    }
  }
}

// Check more than 256 sub-fields of a token, and more than 256 tokens.
TEST_CASE("fields_with_more_than_dis_allows_end_where_it_says") {
  CHECK(ran(marked("field", 4, {{"bytes", "40000"}, {"width", "1"}}), 3).verification.errors == 0);
  CHECK(ran(marked("field", 3, {{"bytes", "20"}}), 600).verification.errors == 0);
}

// Return the further time if instructions cost 1 ns; otherwise only accesses and barriers take time.
std::int64_t computing(const std::string& op, Options options, std::uint64_t iterations, std::uint64_t operations) {
  const Ran free = ran(marked(op, 1, options), iterations);
  options["instruction"] = "1";
  const Ran priced = ran(marked(op, 1, options), iterations);
  CHECK(priced.block.operations == operations);
  const std::int64_t more = (priced.block.elapsed - free.block.elapsed).ps;
  CHECK(more % 1000 == 0);
  return more / 1000;
}

TEST_CASE("stressmarks_of_one_rank_are_charged_for_their_instructions") {
  // A hop of a window of one word compares the word with itself.
  CHECK(computing("pointer", {{"words", "4096"}}, 50, 50) == 50 * (39 + 8 + 7));
  CHECK(computing("update", {{"words", "4096"}}, 50, 50) == 50 * (39 + 8 + 7 + 5));
  // There are 4 x 7, 3 x 7, 3 x 8 and 3 x 7 pairs; bins that are not empty count over all directions.
  const std::int64_t pairs =
      computing("neighborhood", {{"rows", "4"}, {"columns", "8"}, {"distance", "1"}, {"bits", "7"}}, 8, 94);
  CHECK((pairs - 94 * 11) % 74 == 0);
  CHECK((pairs - 94 * 11) / 74 >= 8);
  // All 1000 bytes count, except those of the token, which occurs once.
  const std::int64_t bytes = computing("field", {{"bytes", "1000"}, {"width", "8"}}, 1, 1);
  CHECK(bytes >= (1000 - 8) * 15 + 7 * 4 + 8 * 10);
  CHECK(bytes <= (1000 - 8) * 15 + 7 * 4 + 8 * 10 + 20 * 4);  // and partial matches
}

// A rank that computes passes nothing on if handlers run only in polls. On this network a get is a message, whatever
// the cache holds.
TEST_CASE("accesses_wait_for_ranks_that_compute_unless_messages_interrupt_them") {
  const Options options{{"cache", "off"}, {"nodes", "8"}, {"instruction", "1"}, {"bytes", "40000"}, {"width", "4"}};
  Options interrupted = options;
  interrupted["handlers"] = "interrupt";
  const Ran polled = ran(marked("field", 8, options), 20);
  const Ran cut = ran(marked("field", 8, interrupted), 20);
  CHECK(polled.counts.at(Count::remote_accesses) == cut.counts.at(Count::remote_accesses));
  CHECK(polled.counts.at(Count::waits) > 2 * cut.counts.at(Count::waits));
  CHECK(polled.block.elapsed.ps > cut.block.elapsed.ps * 5 / 4);
}

TEST_CASE("counters_are_of_what_is_timed") {
  const Ran warm = ran(marked("neighborhood", 8, {}), 30);
  CHECK(warm.counts.at(Count::lookups) == warm.counts.at(Count::hits));
  CHECK(warm.counts.at(Count::remote_accesses) == warm.counts.at(Count::lookups));
  const Ran cold = ran(marked("neighborhood", 8, {{"warm", "false"}}), 30);
  CHECK(cold.counts.at(Count::lookups) == warm.counts.at(Count::lookups));
  CHECK(cold.counts.at(Count::hits) < cold.counts.at(Count::lookups));
  CHECK(warm.counts.at(Count::seeded_lookups) > 0);
  CHECK(warm.counts.at(Count::seeded_lookups) < warm.counts.at(Count::lookups));
  const Ran off = ran(marked("neighborhood", 8, {{"cache", "off"}}), 30);
  CHECK(off.counts.at(Count::lookups) == 0);
  CHECK(off.counts.at(Count::remote_accesses) == warm.counts.at(Count::remote_accesses));
  CHECK(off.counts.at(Count::local_accesses) == warm.counts.at(Count::local_accesses));
}

TEST_CASE("chains_are_of_as_many_ranks_of_a_node_as_are_asked_for") {
  const Options one{{"chains", "1"}, {"nodes", "2"}, {"cache", "off"}, {"near", "remote"}};
  const Options all{{"nodes", "2"}, {"cache", "off"}, {"near", "remote"}};
  const Ran few = ran(marked("pointer", 8, one), 100);
  const Ran many = ran(marked("pointer", 8, all), 100);
  CHECK(few.verification.checked >= 2);  // and the comparisons of barriers, equally many with more
  CHECK(many.verification.checked - few.verification.checked == 8 - 2);
  CHECK(few.counts.at(Count::remote_accesses) < many.counts.at(Count::remote_accesses));
}

double metric(const Ran& ran, const std::string& name) {
  for (const auto& [own, value] : ran.block.metrics) {
    if (own == name) return value;
  }
  return -1;
}

// Each chain reads at most 6 words, all of which a cache that had seen nothing else would hold.
TEST_CASE("a_cache_knows_of_short_chains_what_it_would_in_the_middle_of_long_ones") {
  for (const char* op : {"pointer", "update"}) {
    CAPTURE(op);
    const auto hits = [op](const char* capacity) {
      const Ran outcome = ran(marked(op, 16, {{"nodes", "16"}, {"capacity", capacity}, {"window", "1"}}), 6);
      CHECK(outcome.verification.errors == 0);
      CHECK(outcome.counts.at(Count::lookups) > 0);
      return static_cast<double>(outcome.counts.at(Count::hits)) /
             static_cast<double>(outcome.counts.at(Count::lookups));
    };
    CHECK(hits("unlimited") == 1);
    CHECK(hits("15") == 1);
    if (op != kOps[0]) continue;
    for (const std::uint32_t entries : {12U, 6U, 3U}) {
      CAPTURE(entries);
      const double hit_rate = hits(std::to_string(entries).c_str());  // by 16 chains
      CHECK(hit_rate > entries / 15.0 - 0.15);
      CHECK(hit_rate < entries / 15.0 + 0.15);
    }
  }
}

TEST_CASE("a_hop_takes_what_it_takes_on_the_mean_of_all_chains") {
  const Options options{{"nodes", "16"}, {"cache", "off"}};
  const Ran alone = ran(marked("pointer", 1, {{"instruction", "1"}}), 50);
  const Ran few = ran(marked("pointer", 16, options), 8);
  const Ran many = ran(marked("pointer", 16, options), 512);
  CHECK(metric(alone, "latency") >= 39 + 8 + 7);
  CHECK(metric(alone, "latency") * 50 <= alone.block.elapsed.ns());
  CHECK(metric(few, "latency") == doctest::Approx(metric(many, "latency")).epsilon(0.05));
  CHECK(few.block.elapsed.ns() / 8 > 1.1 * metric(few, "latency"));
}

// With so many bins the sum of all histograms takes longer than two columns.
TEST_CASE("a_pair_takes_what_it_takes_however_few_there_are") {
  const Options options{{"nodes", "8"}, {"bits", "14"}, {"instruction", "1"}, {"columns", "256"}};
  const Ran few = ran(marked("neighborhood", 8, options), 64);
  const Ran many = ran(marked("neighborhood", 8, options), 256);
  CHECK(metric(few, "latency") == doctest::Approx(metric(many, "latency")).epsilon(0.1));
  CHECK(few.block.elapsed.ns() / static_cast<double>(few.block.operations) > 2 * metric(few, "latency"));
}

TEST_CASE("stressmarks_refuse_what_dis_does_not_have") {
  const auto refused = [](const char* name, const char* value) {
    CAPTURE(name);
    CAPTURE(value);
    CHECK_THROWS_AS((void)marked("pointer", 4, {{name, value}}), UsageError);
  };
  for (const char* window : {"2", "17", "-1"}) refused("window", window);
  for (const char* words : {"0", "3", "9000000"}) refused("words", words);
  for (const char* bits : {"6", "16"}) refused("bits", bits);
  for (const char* width : {"0", "9"}) refused("width", width);
  for (const char* chains : {"0", "some"}) refused("chains", chains);
  for (const char* name : {"distance", "rows", "columns", "bytes", "capacity"}) refused(name, "0");
}

}  // namespace
}  // namespace gasmeter::kernels::testing::stressmark_test

// RandomAccess by a conduit, by a card and by two-sided messages is the same program: as many messages for as many
// updates, and blocks of a job that differ only by their updates.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/random_access_table.hpp"
#include "gasmeter/run/model_job.hpp"
#include "support/invented_machine.hpp"

namespace gasmeter::run::random_access_flows_test {
namespace {

using Options = std::map<std::string, std::string>;

constexpr Bytes kTable = 64 * 1024;
constexpr std::uint64_t kSeed =
    7;  // with seed 1 the first updates of all ranks go to few owners (docs/notes/random-access.md)
const std::vector<std::string> kPrograms = {"extoll", "raw@extoll", "raw@mpi@extoll"};

Request request(const std::string& conduit, const std::string& topology, std::uint32_t ranks, const Options& options,
                const std::string& placement = "one-per-node", const std::string& variant = "am") {
  static const kernels::Registry registry = kernels::Registry::with_all_kernels();
  Request result = Request::check(registry, {"random-access", "update", conduit,
                                             conduit.starts_with("raw") ? "" : variant, kTable, kSeed, ranks, options});
  result.machine = testing::invented_machine(conduit.ends_with("ibv") ? "ibv" : "extoll", topology, placement);
  return result;
}

void check_verified(ModelJob& job) {
  const kernels::Verification verification = job.verify();
  CHECK(verification.checked > 0);
  CHECK(verification.errors == 0);
}

std::uint64_t packets_of(ModelJob& job, std::uint64_t iterations) {
  (void)job.run(iterations);
  std::uint64_t sum = 0;
  for (const sim::LinkUse& link : job.link_use()) sum += link.packets;
  return sum;
}

// Count updates `begin`..`end` - 1 of all ranks' streams that belong to other ranks.
std::uint64_t remote_updates(std::uint32_t ranks, std::uint64_t begin, std::uint64_t end) {
  using namespace bench::random_access;
  const Distribution table(kTable / sizeof(std::uint64_t), ranks, kSeed);
  std::uint64_t remote = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Stream stream(table, rank);
    stream.seek(begin);
    stream.each(end - begin,
                [&](std::uint64_t value) { remote += table.owner(value & table.mask()) != rank ? 1U : 0U; });
  }
  return remote;
}

// There are two nodes, so that a packet crosses one link. The further costs of a block are the same in each.
TEST_CASE("update_that_travels_alone_is_one_message_and_with_a_window_one_acknowledgement") {
  constexpr std::uint64_t kFew = 300;
  constexpr std::uint64_t kMany = 1200;
  const auto few = static_cast<std::int64_t>(remote_updates(2, 0, kFew));
  const auto many = static_cast<std::int64_t>(remote_updates(2, kFew, kFew + kMany));
  REQUIRE(few > 0);
  for (const std::string& conduit : kPrograms) {
    const auto difference = [&](const Options& options) {
      ModelJob job(request(conduit, "mesh2d:2x1", 2, options));
      const std::uint64_t of_few = packets_of(job, kFew);
      const std::uint64_t of_many = packets_of(job, kMany);
      check_verified(job);
      return static_cast<std::int64_t>(of_many) - static_cast<std::int64_t>(of_few);
    };
    CAPTURE(conduit);
    for (const char* window : {"1", "4", "16", "1024"}) {
      CAPTURE(window);
      CHECK(difference({{"window", window}}) == 2 * (many - few));
    }
    CHECK(difference({{"packed", "false"}}) == many - few);
    CHECK(difference({}) < (many - few) / 2);
  }
}

TEST_CASE("full_packets_of_a_card_have_seven_updates") {
  ModelJob job(request("raw@extoll", "mesh2d:2x1", 2, {}));
  const std::uint64_t few = packets_of(job, 2000);
  const std::uint64_t many = packets_of(job, 8000);
  const double remote = static_cast<double>(remote_updates(2, 2000, 10'000) - remote_updates(2, 0, 2000));
  CHECK(static_cast<double>(many - few) == doctest::Approx(remote / 7).epsilon(0.002));
}

TEST_CASE("random_access_verifies_in_every_flow_and_gives_the_same_strictly_and_on_two_threads") {
  for (const std::string conduit : {"extoll", "raw@extoll", "raw@mpi@extoll", "mpi@extoll", "raw@mpi@ibv"}) {
    const bool ibv = conduit.ends_with("ibv");
    for (const std::string placement : {"fill", "round-robin"}) {
      for (const std::string node_local : {"loop", "shared"}) {
        if (conduit == "raw@extoll" && node_local == "shared") continue;
        for (Options options : {Options{{"window", "1"}}, Options{{"window", "16"}}, Options{{"packed", "false"}}}) {
          CAPTURE(conduit);
          CAPTURE(placement);
          CAPTURE(node_local);
          CAPTURE(options.begin()->second);
          if (conduit != "raw@extoll") options["node_local"] = node_local;
          const auto elapsed = [&](const std::string& option, const std::string& value) {
            Options all = options;
            all[option] = value;
            ModelJob job(request(conduit, ibv ? "crossbar:4" : "mesh3d:2x2x1", 12, all, placement));
            (void)job.run(60);
            const std::int64_t ps = job.run(200).elapsed.ps;
            check_verified(job);
            return ps;
          };
          const std::int64_t lazy = elapsed("sync", "lazy");
          CHECK(lazy == elapsed("sync", "strict"));
          CHECK(lazy == elapsed("threads", "2"));
        }
      }
    }
  }
}

// A smaller window waits more often; with a window of one nothing overlaps.
TEST_CASE("window_of_one_waits_for_every_update_in_every_program") {
  for (const std::string& conduit : kPrograms) {
    CAPTURE(conduit);
    const auto elapsed = [&](const std::string& window) {
      return ModelJob(request(conduit, "mesh3d:2x2x1", 4, {{"window", window}})).run(200).elapsed.ps;
    };
    CHECK(2 * elapsed("1") > 3 * elapsed("16"));
  }
}

// The begin and end of a block cost the same in each, so that two blocks differ by the cost of their updates. Blocks of
// n, 4 n and 7 n updates lie on one line, and a block behind a longer one takes what it took before. A block has each
// rank's stream once, four and seven times: the same updates, more than a rank holds back.
TEST_CASE("blocks_of_a_job_differ_by_their_updates_alone") {
  constexpr std::uint32_t kRanks = 4;
  constexpr std::uint64_t kStream = 4 * kTable / sizeof(std::uint64_t) / kRanks;
  static_assert(kStream > bench::random_access::kLookAhead);
  for (const std::string& conduit : kPrograms) {
    for (const Options& options :
         {Options{}, Options{{"packed", "false"}}, Options{{"window", "1"}}, Options{{"window", "4"}}}) {
      CAPTURE(conduit);
      CAPTURE((options.empty() ? "packed" : options.begin()->first + "=" + options.begin()->second));
      ModelJob job(request(conduit, "mesh2d:2x2", kRanks, options));
      const std::uint64_t longer = options.empty() ? 4 : 1;
      const auto elapsed = [&](std::uint64_t streams) {
        return static_cast<double>(job.run(streams * kStream * longer).elapsed.ps);
      };
      (void)elapsed(4);  // registers, once, the memory that receives long messages
      const double one = elapsed(1);
      const double four = elapsed(4);
      const double seven = elapsed(7);
      const double again = elapsed(1);
      const double stream = (four - one) / 3;
      // Few long messages each count: up to 4 % of blocks as short as the others', 1.9 % of these.
      const double tolerance = options.empty() ? 0.02 : 0.01;
      CHECK(stream > 0);
      CHECK((seven - four) / 3 == doctest::Approx(stream).epsilon(tolerance));
      CHECK(again == doctest::Approx(one).epsilon(tolerance));
      check_verified(job);
    }
  }
}

// While all ranks work, updates take as long as in a block with more of them.
TEST_CASE("programs_say_the_rate_of_random_access_while_all_are_at_it_in_every_flow") {
  constexpr std::uint32_t kRanks = 4;
  constexpr std::uint64_t kUpdates = 8'000;
  const auto check = [](const Request& asked, bool loses_none = true) {
    ModelJob job(asked);
    const SimTime few = job.run(kUpdates).elapsed;
    const kernels::BlockResult many = job.run(2 * kUpdates);
    const double rate = static_cast<double>(kRanks * kUpdates) / (many.elapsed - few).seconds();
    REQUIRE(many.metrics.size() == 2);
    CHECK(many.metrics[1].first == "steady_gups");
    CHECK(many.metrics[1].second == doctest::Approx(rate * 1e-9).epsilon(0.03));
    if (loses_none) check_verified(job);
  };
  std::vector<std::string> programs = kPrograms;
  programs.emplace_back("mpi@extoll");
  for (const std::string& conduit : programs) {
    for (const Options& options : {Options{}, Options{{"packed", "false"}}, Options{{"window", "4"}}}) {
      CAPTURE(conduit);
      CAPTURE((options.empty() ? "packed" : options.begin()->first));
      check(request(conduit, "mesh2d:2x2", kRanks, options));
    }
  }
  check(request("extoll", "mesh2d:2x2", kRanks, {}, "one-per-node", "put-get"), false);
}

// Ranks that share a slow card fill it: handlers wait for room, and polls go on behind them. With this seed one of 131
// 000 updates comes to a handler that waits in a poll that has left a wake behind.
TEST_CASE("random_access_through_shared_cards_takes_the_same_strictly") {
  static const kernels::Registry registry = kernels::Registry::with_all_kernels();
  for (const std::string& conduit : kPrograms) {
    CAPTURE(conduit);
    const auto elapsed = [&](const std::string& sync) {
      Options options{{"window", "16"}, {"sync", sync}};
      if (conduit != "raw@extoll") options["node_local"] = "loop";
      Request asked = Request::check(
          registry, {"random-access", "update", conduit, conduit == "extoll" ? "am" : "", 1 << 20, 10, 64, options});
      asked.machine = testing::invented_machine("extoll", "mesh2d:2x2", "fill");
      asked.machine["ranks_per_node"] = 16.0;
      asked.machine["host.lock"] = 35e-9;
      asked.machine["velo.send_engine"] = 100e-9;
      asked.machine["velo.mailbox_slots"] = 512.0;
      asked.machine["velo.read_pointer_update"] = 128.0;
      return ModelJob(asked).run(2048).elapsed;
    };
    CHECK(elapsed("lazy") == elapsed("strict"));
  }
}

TEST_CASE("flows_that_a_program_of_random_access_has_not_are_refused_with_what_it_has") {
  static const kernels::Registry registry = kernels::Registry::with_all_kernels();
  const auto refusal = [](const std::string& conduit, const std::string& variant, const Options& options) {
    try {
      const Request asked =
          Request::check(registry, {"random-access", "update", conduit, variant, kTable, 1, 2, options});
      (void)asked;
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal("extoll", "put-get", {{"packed", "false"}}).find("it belongs to variant am") != std::string::npos);
  CHECK(refusal("extoll", "am", {{"packed", "maybe"}}).find("packed") != std::string::npos);
  CHECK(refusal("extoll", "am", {{"packed", "false"}, {"window", "4"}}).empty());
}

}  // namespace
}  // namespace gasmeter::run::random_access_flows_test

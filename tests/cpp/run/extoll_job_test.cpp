// Kernels on modelled EXTOLL cards, as requests ask for them: every option does what it says, and verification holds.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/run/model_job.hpp"
#include "support/invented_machine.hpp"

namespace gasmeter::run::extoll_job_test {
namespace {

using Options = std::map<std::string, std::string>;

struct Asked {
  std::string kernel = "random-access";
  std::string op = "update";
  std::string variant = "am";
  Bytes size = 64 * 1024;
  std::uint32_t ranks = 16;
  std::string placement = "fill";
  std::string conduit = "extoll";
  std::uint64_t iterations = 100;
};

Request request(const Asked& asked, const Options& options) {
  static const kernels::Registry registry = kernels::Registry::with_all_kernels();
  Request result =
      Request::check(registry, {asked.kernel, asked.op, asked.conduit, asked.conduit == "extoll" ? asked.variant : "",
                                asked.size, 1, asked.ranks, options});
  result.machine = testing::invented_machine("extoll", "mesh3d:2x2x1", asked.placement);
  return result;
}

std::int64_t elapsed(const Asked& asked, const Options& options) {
  ModelJob job(request(asked, options));
  const kernels::BlockResult result = job.run(asked.iterations);
  const kernels::Verification verification = job.verify();
  CHECK(verification.checked > 0);
  CHECK(verification.errors <= verification.allowed);
  // Only put-get may lose an update to another rank's.
  if (asked.variant != "put-get") CHECK(verification.errors == 0);
  return result.elapsed.ps;
}

TEST_CASE("random_access_on_extoll_verifies_in_every_variant_and_gives_the_same_strictly") {
  for (const std::string placement : {"fill", "round-robin"}) {
    for (const std::string am : {"1", "2"}) {
      for (const std::string node_local : {"loop", "shared"}) {
        for (const std::string window : {"0", "16"}) {
          CAPTURE(placement);
          CAPTURE(am);
          CAPTURE(node_local);
          CAPTURE(window);
          const Options options{{"am", am}, {"node_local", node_local}, {"window", window}};
          Options strict = options;
          strict["sync"] = "strict";
          const Asked asked{.placement = placement};
          CHECK(elapsed(asked, options) == elapsed(asked, strict));
        }
        CHECK(elapsed({.variant = "put-get", .placement = placement}, {{"am", am}, {"node_local", node_local}}) > 0);
      }
    }
  }
}

TEST_CASE("random_access_with_more_ranks_than_a_bucket_has_room_for_loses_nothing") {
  CHECK(elapsed({.size = 1U << 20U, .ranks = 60, .iterations = 1000}, {}) > 0);
  CHECK(elapsed({.size = 1U << 20U, .ranks = 60, .conduit = "raw@extoll", .iterations = 1000}, {}) > 0);
}

TEST_CASE("random_access_with_a_window_of_one_waits_for_every_update") {
  for (const std::string conduit : {"extoll", "raw@extoll"}) {
    const Asked asked{.placement = "one-per-node", .conduit = conduit};
    Asked four = asked;
    four.ranks = 4;
    CHECK(elapsed(four, {{"window", "1"}}) > 2 * elapsed(four, {{"window", "16"}}));
  }
}

TEST_CASE("random_access_charges_for_the_table_it_is_told") {
  for (const std::string conduit : {"extoll", "raw@extoll"}) {
    const Asked asked{.conduit = conduit};
    const std::int64_t own = elapsed(asked, {{"window", "4"}});
    CHECK(own == elapsed(asked, {{"window", "4"}, {"priced_table_bytes", "1000000"}}));
    const std::int64_t large = elapsed(asked, {{"window", "4"}, {"priced_table_bytes", "1000001"}});
    CHECK(large > own);
    CHECK(large == elapsed(asked, {{"window", "4"}, {"priced_table_bytes", "500000000"}}));
  }
}

TEST_CASE("options_of_random_access_that_make_no_sense_are_refused") {
  const auto refused = [](const Asked& asked, const Options& options) {
    CHECK_THROWS_AS((void)request(asked, options), UsageError);
  };
  refused({}, {{"window", "-1"}});
  refused({}, {{"window", "1025"}});
  refused({.variant = "put-get"}, {{"window", "1"}});
  refused({}, {{"priced_table_bytes", "-8"}});
}

TEST_CASE("early_active_messages_are_the_four_switches_together_and_each_changes_something") {
  const Asked asked{
      .kernel = "ping-pong", .op = "am-medium", .variant = "", .size = 100, .ranks = 2, .placement = "one-per-node"};
  const std::int64_t improved = elapsed(asked, {});
  const std::int64_t early = elapsed(asked, {{"am", "1"}});
  CHECK(early > improved);
  const Options all{{"sections", "apart"}, {"receive", "copy"}, {"lock", "packet"}, {"send_poll", "on"}};
  CHECK(elapsed(asked, all) == early);
  for (const auto& number : all) {
    CAPTURE(number.first);
    Asked changed = asked;
    if (number.first == "receive") changed.size = 40;  // payload in several packets is copied in any case
    CHECK(elapsed(changed, {number}) != elapsed(changed, {}));
  }
  Options back{{"am", "1"}, {"sections", "packed"}, {"receive", "in-place"}, {"lock", "message"}, {"send_poll", "off"}};
  CHECK(elapsed(asked, back) == improved);
  CHECK(elapsed(asked, {{"lock", "none"}}) < improved);
}

TEST_CASE("a_static_schedule_waits_for_sleeping_receivers_as_soon_as_few_requests_may_be_outstanding") {
  const auto time = [](const std::string& op, const std::string& outstanding, const std::string& block) {
    Asked asked{.kernel = "immediate", .op = op, .variant = "", .size = 0, .ranks = 4, .placement = "one-per-node"};
    asked.iterations = 1;
    Options options{{"messages", "150"}, {"payload", "100"}, {"sleep", "50"}};
    options["outstanding"] = outstanding;
    options["block"] = block;
    return elapsed(asked, options);
  };
  CHECK(time("dynamic", "3", "0") * 2 < time("static", "3", "0"));  // three receivers at a time, not one
  CHECK(time("dynamic", "0", "0") * 2 > time("static", "0", "0"));
  CHECK(time("static", "3", "1") < time("static", "3", "0"));
  for (const char* refused : {"-1", "65536"}) {
    CHECK_THROWS_AS((void)time("static", refused, "0"), UsageError);
  }
}

TEST_CASE("node_local_decides_between_the_card_and_the_memory") {
  const Asked asked{.kernel = "ping-pong", .op = "am-short", .variant = "", .size = 0, .ranks = 2};
  CHECK(elapsed(asked, {{"node_local", "shared"}}) < elapsed(asked, {{"node_local", "loop"}}) / 2);
}

// ---- unused numbers of a machine

std::set<std::string> unused(const Asked& asked, const Options& options = {}) {
  ModelJob job(request(asked, options));
  (void)job.run(asked.iterations);
  (void)job.verify();
  const std::vector<std::string> keys = job.unused_keys();
  return {keys.begin(), keys.end()};
}

TEST_CASE("a_job_names_the_numbers_of_the_machine_that_it_did_not_use") {
  const std::set<std::string> velo = unused({.conduit = "raw@extoll"});
  for (const char* key : {"rma.requester", "rma.descriptor", "rma.notification_slots", "link.packet", "host.call",
                          "host.dispatch", "host.lock", "host.registration", "mpi.eager", "mpi.software"}) {
    CAPTURE(key);
    CHECK(velo.contains(key));
  }
  for (const char* key : {"topology", "ranks_per_node", "link.latency", "link.buffer", "velo.send_engine",
                          "host.pio_start", "host.pio_bandwidth", "host.poll_miss", "host.cache"}) {
    CAPTURE(key);
    CHECK_FALSE(velo.contains(key));
  }
  const std::set<std::string> conduit = unused({});
  CHECK_FALSE(conduit.contains("host.dispatch"));
  CHECK(conduit.contains("rma.requester"));
  // Puts use the other unit.
  const std::set<std::string> put = unused({.kernel = "ping-pong",
                                            .op = "put",
                                            .size = 4096,
                                            .ranks = 2,
                                            .placement = "one-per-node",
                                            .conduit = "raw@extoll"});
  CHECK_FALSE(put.contains("rma.requester"));
  CHECK_FALSE(put.contains("link.packet"));
  const std::set<std::string> mpi = unused({.conduit = "raw@mpi@extoll"});
  CHECK_FALSE(mpi.contains("mpi.eager"));
  CHECK_FALSE(mpi.contains("mpi.software"));
}

// Each number alone, and all at once, get another value, or a value where the machine has none: no picosecond moves.
TEST_CASE("numbers_that_a_job_did_not_use_change_nothing") {
  for (const std::string conduit : {"extoll", "raw@extoll", "raw@mpi@extoll"}) {
    const Asked asked{.placement = "round-robin", .conduit = conduit, .iterations = 40};
    const std::int64_t expected = elapsed(asked, {});
    Request all = request(asked, {});
    for (const std::string& key : unused(asked)) {
      if (key == "host.clock_read") continue;  // a price only of machines with sockets
      CAPTURE(conduit);
      CAPTURE(key);
      Request overridden = request(asked, {});
      const auto stated = overridden.machine.find(key);
      const double unstated = key.ends_with("_bandwidth") ? 1e9 : 1e-9;
      const double other = stated == overridden.machine.end() ? unstated : 0.5 * std::get<double>(stated->second);
      overridden.machine[key] = all.machine[key] = other;
      CHECK(ModelJob(overridden).run(asked.iterations).elapsed.ps == expected);
    }
    CHECK(ModelJob(all).run(asked.iterations).elapsed.ps == expected);
  }
}

}  // namespace
}  // namespace gasmeter::run::extoll_job_test

// The kernel that measures the simulation: its data are right, and virtual times do not depend on threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/run/model_job.hpp"
#include "gasmeter/run/request.hpp"
#include "gasmeter/sim/fibres/fibre.hpp"
#include "support/invented_machine.hpp"

namespace gasmeter::kernels::simulator_test {
namespace {

const Registry& registry() {
  static const Registry all = Registry::with_all_kernels();
  return all;
}

run::Request request(const std::string& op, const std::string& conduit, std::uint32_t ranks, unsigned threads = 1) {
  std::map<std::string, std::string> options;
  if (threads != 1) options["threads"] = std::to_string(threads);
  run::Request made = run::Request::check(registry(), {"simulator", op, conduit, "", 0, 7, ranks, options});
  if (conduit == "raw@fabric") {
    made.machine = {{"topology", std::string("torus3d:4x4x4")},
                    {"ranks_per_node", 4.0},
                    {"link.bandwidth", 1e9},
                    {"link.latency", 200e-9},
                    {"link.buffer", 8.0},
                    {"host.post", 50e-9},
                    {"host.poll_miss", 10e-9}};
  }
  return made;
}

bool is_right(const Verification& verification) {
  return verification.checked > 0 && verification.errors == 0;
}

TEST_CASE("a_raw_rank_with_all_its_puts_outstanding_takes_eight_kibibytes") {
  if (sim::Fibre::default_stack_bytes() > 64 * 1024) return;  // sanitizers use further memory
  run::Request request_of_many = request("random-put", "raw@fabric", 4096);
  request_of_many.machine["topology"] = std::string("torus3d:16x16x16");
  request_of_many.machine["ranks_per_node"] = 1.0;
  request_of_many.machine["link.buffer"] = 15.0;
  run::ModelJob job(request_of_many);
  const BlockResult result = job.run(32);
  REQUIRE(result.metrics.size() == 2);
  CHECK(result.metrics[1].first == "memory_per_rank");
  CHECK(result.metrics[1].second <= 8 * 1024);
}

TEST_CASE("simulator_verifies_its_data") {
  for (const std::string op : {"random-put", "ping-pong", "fetch-add"}) {
    for (const std::uint32_t ranks : {2U, 64U, 100U}) {
      CAPTURE(op);
      CAPTURE(ranks);
      run::ModelJob job(request(op, "raw@fabric", ranks));
      CHECK(is_right(job.verify()));
      const BlockResult result = job.run(50);
      CHECK(result.operations == 50U * (op == "ping-pong" ? 2 : ranks));
      REQUIRE(result.metrics.size() == 2);
      CHECK(result.metrics[0].first == "rate");
      CHECK(result.metrics[0].second > 0);
      CHECK(is_right(job.verify()));
    }
  }
  run::ModelJob job(request("am", "ideal", 6));
  CHECK(job.run(20).operations == 120);
  CHECK(is_right(job.verify()));
}

TEST_CASE("simulator_takes_the_same_virtual_time_on_any_number_of_threads") {
  for (const std::string op : {"random-put", "fetch-add"}) {
    run::ModelJob one(request(op, "raw@fabric", 256));
    (void)one.run(100);
    for (const unsigned threads : {2U, 4U}) {
      run::ModelJob several(request(op, "raw@fabric", 256, threads));
      (void)several.run(100);
      CHECK(several.block_length() == one.block_length());
      CHECK(is_right(several.verify()));
    }
  }
}

// Cost of simulating an operation, in the midst of a run.
struct Cost {
  double hops;
  double events;
  double switches;
};
Cost cost_of(const run::Request& asked, std::uint64_t iterations) {
  run::ModelJob job(asked);
  (void)job.run(iterations);
  const sim::EngineCounters before = job.engine_counters();
  const auto operations = static_cast<double>(job.run(iterations).operations);
  const sim::EngineCounters after = job.engine_counters();
  double hops = 0;
  for (const sim::LinkUse& link : job.link_use()) hops += static_cast<double>(link.packets);
  return {hops / operations, static_cast<double>(after.events - before.events) / operations,
          static_cast<double>(after.switches - before.switches) / operations};
}

TEST_CASE("a_put_is_an_event_a_hop_and_wakes_its_rank_once") {
  for (const std::string op : {"random-put", "ping-pong"}) {
    CAPTURE(op);
    run::Request asked = request(op, "raw@fabric", 64);
    asked.machine["ranks_per_node"] = 1.0;
    const Cost put = cost_of(asked, 200);
    CHECK(put.events <= put.hops + 3);
    CHECK(put.switches <= 1.5);
  }
}

// Ranks that share a node may see one another's stores: a rank that looks at the node's memory must let the others
// catch up first.
TEST_CASE("an_update_by_messages_takes_few_events_and_switches") {
  // Costs of an update and its answer. Beside hops, each message comes out of the engine that sends and of the one that
  // receives: 4.2 events with read pointers. Where eight ranks share a card it is 6.8: some stores wait for others on
  // HyperTransport, some packets for those in front of them in the card, some for a buffer of a link.
  struct Most {
    double ranks_per_node;
    double events;
    double switches;
  };
  for (const auto& [ranks_per_node, most_events, most_switches] : {Most{1, 4.5, 2.5}, Most{8, 7, 3.5}}) {
    run::Request asked = request("am", "extoll", static_cast<std::uint32_t>(64 * ranks_per_node));
    asked.machine = gasmeter::testing::invented_machine("extoll", "torus3d:4x4x4");
    asked.machine["ranks_per_node"] = ranks_per_node;
    const Cost update = cost_of(asked, 100);
    CHECK(update.events <= update.hops + most_events);
    CHECK(update.switches <= most_switches);
  }
}

// If all messages go through the card, memory of the node tells of none. A rank with messages at hand takes them
// without looking at others, and a rank that is certain of room in the card does not ask for it.
TEST_CASE("ranks_of_a_node_that_send_through_the_card_alone_seldom_wait_for_one_another") {
  struct Limit {
    const char* conduit;
    const char* variant;
    double most_switches;
  };
  for (const Limit& limit : {Limit{"extoll", "am", 5.1}, {"raw@extoll", "", 5.5}, {"raw@mpi@extoll", "", 2.6}}) {
    const char* const conduit = limit.conduit;
    CAPTURE(conduit);
    std::map<std::string, std::string> options{{"window", "16"}};
    if (std::string(conduit) != "raw@extoll") options["node_local"] = "loop";
    run::Request asked =
        run::Request::check(registry(), {"random-access", "update", conduit, limit.variant, 1 << 20, 7, 256, options});
    asked.machine = gasmeter::testing::invented_machine("extoll", "torus3d:4x4x4");
    asked.machine["ranks_per_node"] = 16.0;
    CHECK(cost_of(asked, 100).switches <= limit.most_switches);
  }
}

TEST_CASE("links_carry_every_byte_of_every_hop") {
  run::ModelJob job(request("random-put", "raw@fabric", 64));
  (void)job.run(50);
  std::uint64_t bytes = 0;
  double most = 0;
  for (const sim::LinkUse& link : job.link_use()) {
    bytes += link.bytes;
    most = std::max(most, link.busy.seconds() / job.block_length().seconds());
  }
  // Puts go out with 88 bytes and come back with 24, over as many links.
  CHECK(bytes > 0);
  CHECK(bytes % 112 == 0);
  CHECK(most > 0);
  CHECK(most <= 1);
}

TEST_CASE("simulator_refuses_what_it_cannot_run") {
  CHECK_THROWS_AS(request("random-put", "smp", 2), UsageError);
  CHECK_THROWS_AS(run::ModelJob(request("random-put", "ideal", 2)), UsageError);
  CHECK_THROWS_AS(run::ModelJob(request("am", "raw@fabric", 2)), UsageError);
  CHECK_THROWS_AS(request("ping-pong", "raw@fabric", 1), UsageError);
  CHECK_THROWS_AS(run::ModelJob(request("random-put", "raw@fabric", 257)), UsageError);  // 64 nodes of 4
  run::Request without = request("random-put", "raw@fabric", 2);
  without.machine.clear();
  CHECK_THROWS_AS(run::ModelJob{without}, UsageError);
  run::Request unused = request("random-put", "raw@fabric", 2);
  unused.machine["link.bufer"] = 3.0;
  CHECK_THROWS_WITH_AS(run::ModelJob{unused}, doctest::Contains("link.bufer"), UsageError);
}

}  // namespace
}  // namespace gasmeter::kernels::simulator_test

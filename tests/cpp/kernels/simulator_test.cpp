// The kernel that measures the simulation: its data are right, and the virtual times behind it do not depend on
// threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/run/model_job.hpp"
#include "gasmeter/run/request.hpp"

namespace gasmeter::kernels {
namespace {

const Registry& registry() {
  static const Registry all = Registry::with_all_kernels();
  return all;
}

run::Request request(const std::string& op, const std::string& conduit, std::uint32_t ranks, unsigned threads = 1) {
  std::map<std::string, std::string> options;
  if (threads != 1) options["threads"] = std::to_string(threads);
  run::Request made = run::Request::check(registry(), "simulator", op, conduit, "", 0, 7, ranks, options);
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

bool is_right(const Verification& found) {
  return found.checked > 0 && found.errors == 0;
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
}  // namespace gasmeter::kernels

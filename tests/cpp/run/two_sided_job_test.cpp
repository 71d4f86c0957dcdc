// Kernels over two-sided messages on modelled networks, as requests ask for them.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/run/model_job.hpp"
#include "support/invented_machine.hpp"

namespace gasmeter::run::two_sided_job_test {
namespace {

using Options = std::map<std::string, std::string>;

struct Asked {
  std::string kernel;
  std::string op;
  std::string conduit;
  Bytes size = 64;
  std::uint32_t ranks = 2;
  std::string placement = "one-per-node";
  std::uint64_t iterations = 50;
  std::map<std::string, double> machine{};
};

// Return the simulated time of the second of two blocks, which verify.
std::int64_t elapsed(const Asked& asked, const Options& options = {}) {
  static const kernels::Registry registry = kernels::Registry::with_all_kernels();
  Request request =
      Request::check(registry, {asked.kernel, asked.op, asked.conduit, "", asked.size, 1, asked.ranks, options});
  static const std::map<std::string, std::string> topologies = {
      {"aries", "crossbar:4"}, {"extoll", "mesh3d:2x2x1"}, {"ibv", "crossbar:4"}, {"sci", "oneway-torus2d:2x2"}};
  const std::string network = asked.conduit.substr(asked.conduit.rfind('@') + 1);
  request.machine = testing::invented_machine(network, topologies.at(network), asked.placement);
  for (const auto& [key, value] : asked.machine) request.machine[key] = value;
  ModelJob job(request);
  (void)job.run(asked.iterations);
  const kernels::BlockResult result = job.run(asked.iterations);
  const kernels::Verification verification = job.verify();
  CHECK(verification.checked > 0);
  CHECK(verification.errors == 0);
  return result.elapsed.ps;
}

TEST_CASE("kernels_over_two_sided_messages_verify_and_give_the_same_strictly_and_on_two_threads") {
  for (const std::string conduit : {"mpi@extoll", "raw@mpi@extoll", "mpi@ibv", "raw@mpi@ibv", "mpi@sci", "raw@mpi@sci",
                                    "mpi@aries", "raw@mpi@aries"}) {
    for (const std::string node_local : {"shared", "loop"}) {
      CAPTURE(conduit);
      CAPTURE(node_local);
      const Asked updates{.kernel = "random-access",
                          .op = "update",
                          .conduit = conduit,
                          .size = 64 * 1024,
                          .ranks = 16,
                          .placement = "round-robin",
                          .iterations = 300};
      const std::int64_t lazy = elapsed(updates, {{"node_local", node_local}});
      CHECK(lazy == elapsed(updates, {{"node_local", node_local}, {"sync", "strict"}}));
      CHECK(lazy == elapsed(updates, {{"node_local", node_local}, {"threads", "2"}}));
      for (const Bytes size : {Bytes{0}, Bytes{8}, Bytes{5000}, Bytes{30000}}) {
        for (const std::string placement : {"one-per-node", "fill"}) {
          CAPTURE(size);
          CAPTURE(placement);
          CHECK(
              elapsed(
                  {.kernel = "ping-pong", .op = "am-medium", .conduit = conduit, .size = size, .placement = placement},
                  {{"node_local", node_local}}) > 0);
        }
      }
    }
  }
}

// The data go one way, a word the other, as over a real MPI.
TEST_CASE("puts_and_gets_of_a_program_on_two_sided_messages_are_a_message_and_a_word") {
  for (const std::string conduit : {"raw@mpi@extoll", "raw@mpi@ibv", "raw@mpi@sci", "raw@mpi@aries"}) {
    CAPTURE(conduit);
    const auto time_of = [&](const char* op, Bytes size) {
      return elapsed({.kernel = "ping-pong", .op = op, .conduit = conduit, .size = size});
    };
    const std::int64_t both_ways = time_of("am-medium", 3000);
    const std::int64_t words = time_of("am-short", 8);
    for (const char* op : {"put", "get"}) {
      CAPTURE(op);
      CHECK(time_of(op, 8) == words);
      CHECK(2 * time_of(op, 3000) == doctest::Approx(static_cast<double>(both_ways + words)).epsilon(0.03));
    }
  }
}

TEST_CASE("random_access_by_buckets_verifies_with_two_ranks_and_with_uneven_shares") {
  for (const std::string conduit : {"raw@mpi@extoll", "raw@mpi@ibv", "raw@mpi@sci", "raw@mpi@aries"}) {
    for (const std::uint32_t ranks : {1U, 2U, 3U, 7U}) {
      CAPTURE(conduit);
      CAPTURE(ranks);
      CHECK(elapsed({.kernel = "random-access",
                     .op = "update",
                     .conduit = conduit,
                     .size = 1U << 16U,
                     .ranks = ranks,
                     .placement = "round-robin",
                     .iterations = 5000}) > 0);
    }
  }
}

TEST_CASE("what_two_sided_messages_cost_is_what_the_machine_says") {
  for (const std::string conduit : {"raw@mpi@extoll", "raw@mpi@ibv", "raw@mpi@sci", "raw@mpi@aries"}) {
    CAPTURE(conduit);
    const Asked small{.kernel = "ping-pong", .op = "am-medium", .conduit = conduit, .size = 64};
    const std::int64_t whole = elapsed(small);
    // A round trip has four sides.
    Asked dearer = small;
    dearer.machine["mpi.software"] = conduit.ends_with("extoll") ? 1.7e-6 : 1.4e-6;
    CHECK(elapsed(dearer) - whole == doctest::Approx(4e6 * 50).epsilon(0.01));
    // Each message meets one posted receive.
    dearer = small;
    dearer.machine["mpi.match_element"] = conduit.ends_with("extoll") ? 112e-9 : 110e-9;
    CHECK(elapsed(dearer) - whole == doctest::Approx(2 * 0.1e6 * 50).epsilon(0.05));
    // A larger message costs a request and a clearance more.
    dearer = small;
    dearer.machine["mpi.eager"] = 63.0;
    CHECK(elapsed(dearer) - whole > std::int64_t{2'000'000} * 50);
  }
}

TEST_CASE("a_rendezvous_pays_for_forgetting_its_memory") {
  for (const std::string conduit : {"raw@mpi@extoll", "raw@mpi@ibv", "raw@mpi@aries"}) {
    CAPTURE(conduit);
    const Asked large{.kernel = "ping-pong", .op = "am-medium", .conduit = conduit, .size = 30'000};
    Asked dearer = large;
    if (conduit.ends_with("ibv")) dearer.machine["mpi.deregistration"] = 130e-6;
    if (conduit.ends_with("extoll")) dearer.machine["host.system_call"] = 100.15e-6;
    if (conduit.ends_with("aries")) dearer.machine["host.deregistration"] = 101e-6;
    // Each message's sender deregisters its memory before it looks for the answer.
    CHECK(elapsed(dearer) - elapsed(large) == doctest::Approx(2 * 100e6 * 50).epsilon(0.5));
  }
}

// Memory that a ping-pong sends from and receives into is registered once with a cache; else each message pays anew.
// The mpi conduit puts from the programs' memory; messages would use its own buffers in turn.
TEST_CASE("memory_of_long_messages_stays_registered_with_a_cache") {
  const Options cached{{"registration", "cached"}};
  for (const std::string conduit :
       {"raw@mpi@extoll", "raw@mpi@ibv", "raw@mpi@aries", "mpi@extoll", "mpi@ibv", "mpi@aries"}) {
    CAPTURE(conduit);
    const bool is_raw = conduit.starts_with("raw");
    const Asked large{.kernel = "ping-pong", .op = is_raw ? "am-medium" : "put", .conduit = conduit, .size = 30'000};
    Asked dearer = large;
    dearer.machine["host.registration"] = 100e-6;
    dearer.machine["host.registration_per_page"] = 10e-6;
    CHECK(elapsed(dearer, cached) == doctest::Approx(static_cast<double>(elapsed(large, cached))).epsilon(1e-4));
    CHECK(elapsed(dearer) > elapsed(large, cached) + std::int64_t{100'000'000} * 50);
    CHECK(elapsed(dearer, cached) == elapsed(dearer, {{"registration", "cached"}, {"sync", "strict"}}));
    CHECK(elapsed(dearer, cached) == elapsed(dearer, {{"registration", "cached"}, {"threads", "2"}}));
  }
}

// ScaMPI stores only into its own memory.
TEST_CASE("messages_of_any_length_on_sci_register_nothing_and_verify") {
  for (const std::string check : {"off", "message"}) {
    for (const Bytes size :
         {Bytes{64}, Bytes{512}, Bytes{513}, Bytes{8192}, Bytes{8193}, Bytes{65'000}, Bytes{1} << 20U}) {
      CAPTURE(check);
      CAPTURE(size);
      const Asked asked{
          .kernel = "ping-pong", .op = "am-medium", .conduit = "raw@mpi@sci", .size = size, .iterations = 5};
      Asked dearer = asked;
      dearer.machine["host.registration"] = 100e-6;
      dearer.machine["host.registration_per_page"] = 10e-6;
      CHECK(elapsed(asked, {{"check", check}}) == elapsed(dearer, {{"check", check}}));
    }
  }
  CHECK(elapsed({.kernel = "ping-pong", .op = "am-long", .conduit = "mpi@sci", .size = 65'000, .iterations = 5},
                {{"protocol", "ammpi"}}) > 0);
}

TEST_CASE("two_sided_messages_refuse_what_they_have_not") {
  const auto refused = [](const Asked& asked, const Options& options) {
    CHECK_THROWS_AS((void)elapsed(asked, options), UsageError);
  };
  refused({.kernel = "ping-pong", .op = "call", .conduit = "raw@mpi@extoll"}, {});
  refused({.kernel = "barrier", .op = "barrier", .conduit = "raw@mpi@extoll"}, {});
  refused({.kernel = "random-access", .op = "update", .conduit = "raw@mpi@extoll", .size = 1024}, {{"window", "1025"}});
  refused({.kernel = "ping-pong", .op = "am-short", .conduit = "mpi@extoll"}, {{"am", "1"}});
}

}  // namespace
}  // namespace gasmeter::run::two_sided_job_test

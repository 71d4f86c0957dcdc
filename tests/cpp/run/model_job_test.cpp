#include "gasmeter/run/model_job.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/sim/engine/engine.hpp"

namespace gasmeter::run::model_job_test {
namespace {

using kernels::BlockResult;
using kernels::Verification;

Request request(const std::string& kernel, const std::string& op, const std::string& variant, Bytes size,
                std::uint32_t ranks, const std::map<std::string, std::string>& options) {
  static const kernels::Registry registry = kernels::Registry::with_all_kernels();
  return Request::check(registry, {kernel, op, "ideal", variant, size, 1, ranks, options});
}

struct Measured {
  std::vector<std::int64_t> elapsed_ps;
  std::uint64_t checked = 0;
  bool operator==(const Measured&) const = default;
};

Measured measure(const Request& asked) {
  ModelJob job(asked);
  Measured all;
  for (unsigned block = 0; block < 3; ++block) {
    const BlockResult result = job.run(20);
    CHECK(result.operations >= 20);
    CHECK(result.elapsed.ps >= 0);
    all.elapsed_ps.push_back(result.elapsed.ps);
  }
  const Verification verification = job.verify();
  CHECK(verification.errors <= verification.allowed);
  all.checked = verification.checked;
  return all;
}

TEST_CASE("conduits_that_do_not_tell_what_they_hold_are_named") {
  ModelJob job(request("ping-pong", "put", "", 8, 2, {}));
  std::string said;
  try {
    (void)job.holdings(Rank{1});
  } catch (const UsageError& error) {
    said = error.what();
  }
  CHECK(said == "conduit ideal does not tell what rank 1 holds; let it be a conduit::TellsHoldings");
}

TEST_CASE("modelled_measurement_is_the_same_every_time_lazily_and_strictly") {
  struct Kind {
    std::string kernel;
    std::string op;
    std::string variant;
    Bytes size;
  };
  for (const Kind& kind :
       {Kind{"ping-pong", "am-short", "", 0}, Kind{"ping-pong", "am-medium", "", 512}, Kind{"ping-pong", "put", "", 8},
        Kind{"ping-pong", "get", "", 20'000}, Kind{"flood", "am-long", "", 100}, Kind{"flood", "put", "", 8},
        Kind{"barrier", "barrier", "", 0}, Kind{"random-access", "update", "am", 8192},
        Kind{"random-access", "update", "put-get", 8192}}) {
    for (const std::string neighbourhood : {"false", "true"}) {
      for (const std::uint32_t ranks : {2U, 5U}) {
        CAPTURE(kind.kernel);
        CAPTURE(kind.op);
        CAPTURE(neighbourhood);
        CAPTURE(ranks);
        const auto with = [&](const std::string& sync) {
          return measure(request(kind.kernel, kind.op, kind.variant, kind.size, ranks,
                                 {{"neighbourhood", neighbourhood}, {"sync", sync}}));
        };
        const Measured lazy = with("lazy");
        CHECK(lazy == with("lazy"));
        CHECK(lazy == with("strict"));
        CHECK(lazy.elapsed_ps.front() > 0);
        CHECK(lazy.checked > 0);
      }
    }
  }
}

TEST_CASE("requests_that_cannot_be_modelled_are_refused") {
  static const kernels::Registry registry = kernels::Registry::with_all_kernels();
  CHECK_THROWS_AS(ModelJob(Request::check(registry, {"ping-pong", "put", "smp", "", 8, 1, 2})), UsageError);
  CHECK_THROWS_AS(ModelJob(request("ping-pong", "put", "", 8, 2, {{"nodes", "3"}})), UsageError);
  CHECK_THROWS_AS(ModelJob(request("ping-pong", "put", "", 8, 2, {{"nodes", "0"}})), UsageError);
  CHECK_THROWS_AS(ModelJob(request("ping-pong", "put", "", 8, 1, {{"nodes", "1"}})), UsageError);
  CHECK_THROWS_AS(ModelJob(request("flood", "put", "", 8, 1, {{"nodes", "1"}})), UsageError);
  CHECK_THROWS_AS(ModelJob(request("fetch-add", "latency", "", 0, 1, {{"nodes", "1"}})), UsageError);
  CHECK_THROWS_AS(ModelJob(request("ping-pong", "am-medium", "", 1 << 20, 2, {})), UsageError);
  // Words in a table without shared memory cannot be updated in place.
  CHECK_THROWS_AS(ModelJob(request("random-access", "update", "direct", 8192, 2, {})), UsageError);
}

std::uint64_t messages(const ModelJob& job) {
  return job.counts().of(conduit::Count::messages).value_or(0);
}

TEST_CASE("verifying_barriers_of_thousands_of_ranks_costs_no_more_than_measuring_a_few") {
  for (const std::uint32_t ranks : {1000U, 4096U}) {
    CAPTURE(ranks);
    ModelJob job(request("barrier", "barrier", "", 0, ranks, {{"neighbourhood", "false"}}));
    (void)job.run(1);
    const std::uint64_t block = messages(job);
    const Verification verification = job.verify();
    CHECK(verification.errors == 0);
    CHECK(verification.checked >= ranks);
    CHECK(verification.checked <= 16 * 1024);
    CHECK(messages(job) - block <= 4 * block);
  }
}

TEST_CASE("running_job_can_be_stopped_from_another_thread") {
  ModelJob job(request("ping-pong", "am-short", "", 0, 2, {}));
  std::atomic<bool> started{false};
  std::thread stopper([&] {
    while (!started) std::this_thread::yield();
    job.stop();
  });
  started = true;
  CHECK_THROWS_AS((void)job.run(1'000'000'000), sim::Interrupted);
  stopper.join();
}

}  // namespace
}  // namespace gasmeter::run::model_job_test

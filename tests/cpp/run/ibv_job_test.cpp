// Kernels on modelled InfiniBand, as requests ask for them: verification holds, and the conduit costs more than verbs.
#include <doctest/doctest.h>

#include <string>

#include "gasmeter/base/error.hpp"
#include "support/asked_job.hpp"

namespace gasmeter::run::ibv_job_test {
namespace {

using Options = testing::JobOptions;

struct Asked {
  std::string kernel = "ping-pong";
  std::string op = "am-short";
  std::string variant = "";
  Bytes size = 8;
  std::uint32_t ranks = 2;
  std::string conduit = "ibv";
  std::string placement = "one-per-node";
  std::uint64_t iterations = 50;
};

Request request(const Asked& asked, const Options& options) {
  return testing::request_on("ibv", "fat-tree:4x2", asked, options);
}

std::int64_t elapsed(const Asked& asked, const Options& options = {}) {
  return testing::elapsed_of(request(asked, options), asked.iterations);
}

TEST_CASE("ibv_kernels_verify_and_the_conduit_costs_more_than_verbs") {
  for (const std::string kernel : {"ping-pong", "flood"}) {
    for (const std::string op : {"am-short", "am-medium", "am-long", "put", "get"}) {
      for (const Bytes size : {Bytes{8}, Bytes{512}, Bytes{4000}}) {
        CAPTURE(kernel);
        CAPTURE(op);
        CAPTURE(size);
        const std::int64_t conduit = elapsed({.kernel = kernel, .op = op, .size = size});
        const std::int64_t verbs = elapsed({.kernel = kernel, .op = op, .size = size, .conduit = "raw@ibv"});
        // A flood of Longs is two work requests and a look at each for verbs; the conduit packs small ones into one.
        if (kernel != "flood") CHECK(conduit > verbs);
        CHECK(conduit < 4 * verbs);
      }
    }
  }
}

TEST_CASE("ibv_jobs_give_the_same_strictly_and_on_two_threads") {
  for (const Asked& asked : {Asked{.kernel = "random-access",
                                   .op = "update",
                                   .variant = "am",
                                   .size = 64 * 1024,
                                   .ranks = 16,
                                   .placement = "round-robin",
                                   .iterations = 100},
                             Asked{.kernel = "barrier", .op = "barrier", .ranks = 9, .placement = "fill"},
                             Asked{.kernel = "flood", .op = "put", .size = 100'000}}) {
    CAPTURE(asked.kernel);
    const std::int64_t lazy = elapsed(asked);
    CHECK(lazy == elapsed(asked, {{"sync", "strict"}}));
    CHECK(lazy == elapsed(asked, {{"threads", "2"}}));
  }
}

TEST_CASE("ibv_transfers_from_outside_the_segment_are_not_copied_where_it_is_registered") {
  const Asked asked{.op = "put", .size = 60'000};  // in a flood the copies would hide behind the link
  const Options cached{{"registration", "cached"}};
  CHECK(elapsed(asked, cached) < elapsed(asked));
  CHECK(elapsed(asked, {{"registration", "cached"}, {"sync", "strict"}}) == elapsed(asked, cached));
  CHECK(elapsed(asked, {{"registration", "cached"}, {"threads", "2"}}) == elapsed(asked, cached));
  const auto failure = [&](const Options& options) -> std::string {
    try {
      (void)elapsed(asked, options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(failure({{"registration", "cached"}, {"pinned_pages", "8"}}) ==
        "registration cache: 15 pages of 4096 B are to be pinned at once; the device holds at most 8: transfer less at "
        "a time, or raise the limit");
  CHECK(failure({{"pinned_pages", "8"}}) ==
        "option 'pinned_pages' limits nothing; it needs option 'registration=cached'");
  CHECK(failure({{"registration", "cached"}, {"pinned_pages", "-1"}}) ==
        "option 'pinned_pages=-1': allowed are 0 (no limit) and more");
}

// More ranks run than the shared receives can serve: refused requests are sent again.
TEST_CASE("ibv_more_ranks_than_receives_lose_nothing") {
  CHECK(elapsed({.kernel = "random-access",
                 .op = "update",
                 .variant = "am",
                 .size = 1U << 20U,
                 .ranks = 100,
                 .placement = "fill",
                 .iterations = 300}) > 0);
}

TEST_CASE("ibv_a_neighbourhood_needs_no_adapter") {
  const Asked asked{.placement = "fill"};
  CHECK(elapsed(asked, {{"neighbourhood", "true"}}) < elapsed(asked) / 2);
}

TEST_CASE("ibv_kernels_without_a_raw_program_say_so") {
  CHECK_THROWS_AS((void)elapsed({.kernel = "random-access", .op = "update", .size = 64 * 1024, .conduit = "raw@ibv"}),
                  UsageError);
}

}  // namespace
}  // namespace gasmeter::run::ibv_job_test

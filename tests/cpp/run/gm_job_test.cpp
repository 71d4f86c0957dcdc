// Kernels on modelled Myrinet, as requests ask for them: verification holds, and the conduit costs more than GM.
#include <doctest/doctest.h>

#include <string>

#include "gasmeter/base/error.hpp"
#include "support/asked_job.hpp"

namespace gasmeter::run::gm_job_test {
namespace {

using Options = testing::JobOptions;

struct Asked {
  std::string kernel = "ping-pong";
  std::string op = "am-short";
  std::string variant = "";
  Bytes size = 8;
  std::uint32_t ranks = 2;
  std::string conduit = "gm";
  std::string placement = "one-per-node";
  std::uint64_t iterations = 50;
};

Request request(const Asked& asked, const Options& options) {
  return testing::request_on("gm", "crossbar:16", asked, options);
}

std::int64_t elapsed(const Asked& asked, const Options& options = {}) {
  return testing::elapsed_of(request(asked, options), asked.iterations);
}

TEST_CASE("gm_kernels_verify_and_the_conduit_costs_more_than_gm") {
  for (const std::string kernel : {"ping-pong", "flood"}) {
    for (const std::string op : {"am-short", "am-medium", "am-long", "put", "get"}) {
      for (const Bytes size : {Bytes{8}, Bytes{512}, Bytes{2048}, Bytes{2049}, Bytes{20'000}, Bytes{200'000}}) {
        if (op.starts_with("am-") && size > 61'440) continue;
        CAPTURE(kernel);
        CAPTURE(op);
        CAPTURE(size);
        const std::int64_t conduit = elapsed({.kernel = kernel, .op = op, .size = size});
        if (op == "get") continue;  // GM has none
        const std::int64_t gm = elapsed({.kernel = kernel, .op = op, .size = size, .conduit = "raw@gm"});
        // The card bounds floods. A Long is two sends for GM, where the conduit packs small ones into one. A Short has
        // 8 B for GM, where the conduit's without arguments has 4.
        if (kernel != "flood" || op != "am-long") CHECK(conduit * 1000 >= gm * (op == "am-short" ? 999 : 1000));
        CHECK(conduit < 4 * gm);
      }
    }
  }
}

TEST_CASE("gm_jobs_give_the_same_strictly_and_on_two_threads") {
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

// Features that GM 1 lacks are refused by name.
TEST_CASE("gm_options_that_the_machine_cannot_have_say_so") {
  CHECK_THROWS_AS((void)elapsed({.op = "get"}, {{"get", "rdma"}}), UsageError);
  CHECK_THROWS_AS((void)elapsed({}, {{"progress", "interrupt"}}), UsageError);
  CHECK_THROWS_AS((void)elapsed({.op = "get", .conduit = "raw@gm"}), UsageError);
  CHECK_THROWS_AS((void)elapsed({}, {{"bounce_limit", "65537"}}), UsageError);
  CHECK_THROWS_AS((void)elapsed({}, {{"registration", "none"}, {"pinned_pages", "5"}}), UsageError);
}

// Gets and puts by the cards cost less than by messages, and no less than the cards alone: from the segment they are
// the same commands, and only the end of a block differs.
TEST_CASE("gm_2_kernels_verify_by_the_cards") {
  for (const std::string kernel : {"ping-pong", "flood"}) {
    for (const std::string op : {"put", "get"}) {
      for (const Bytes size : {Bytes{8}, Bytes{2048}, Bytes{20'000}, Bytes{200'000}}) {
        CAPTURE(kernel);
        CAPTURE(op);
        CAPTURE(size);
        const auto timed = [&](const std::string& conduit, const Options& options = {}) {
          Request asked = request({.kernel = kernel, .op = op, .size = size, .conduit = conduit}, options);
          asked.machine["port.gm_version"] = 2.0;
          return testing::elapsed_of(asked, 50);
        };
        const std::int64_t by_cards = timed("gm");
        CHECK(by_cards * 1000 >= timed("raw@gm") * 999);
        if (kernel == "ping-pong") CHECK(by_cards < timed("gm", {{"put", "messages"}, {"get", "messages"}}));
      }
    }
  }
}

// More ranks run than a port has receives: messages without a receive are sent again.
TEST_CASE("gm_more_ranks_than_receives_lose_nothing") {
  CHECK(elapsed({.kernel = "random-access",
                 .op = "update",
                 .variant = "am",
                 .size = 1U << 20U,
                 .ranks = 100,
                 .placement = "fill",
                 .iterations = 300}) > 0);
}

TEST_CASE("gm_a_neighbourhood_needs_no_card") {
  const Asked asked{.placement = "fill"};
  CHECK(elapsed(asked, {{"neighbourhood", "true"}}) < elapsed(asked) / 2);
  CHECK(elapsed(asked, {{"node_local", "shared"}}) < elapsed(asked) / 2);
}

TEST_CASE("gm_kernels_without_a_raw_program_say_so") {
  CHECK_THROWS_AS((void)elapsed({.kernel = "random-access", .op = "update", .size = 64 * 1024, .conduit = "raw@gm"}),
                  UsageError);
}

}  // namespace
}  // namespace gasmeter::run::gm_job_test

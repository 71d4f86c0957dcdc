// Kernels on modelled SCI cards, as requests ask for them: verification holds, every option does what it says, and the
// conduit costs more than SISCI.
#include <doctest/doctest.h>

#include <string>

#include "gasmeter/base/error.hpp"
#include "support/asked_job.hpp"

namespace gasmeter::run::sci_job_test {
namespace {

using Options = testing::JobOptions;

struct Asked {
  std::string kernel = "ping-pong";
  std::string op = "am-short";
  std::string variant = "";
  Bytes size = 8;
  std::uint32_t ranks = 2;
  std::string conduit = "sci";
  std::string placement = "one-per-node";
  std::uint64_t iterations = 50;
  std::string topology = "oneway-torus2d:4x2";
};

Request request(const Asked& asked, const Options& options) {
  return testing::request_on("sci", asked.topology, asked, options);
}

std::int64_t elapsed(const Asked& asked, const Options& options = {}) {
  return testing::elapsed_of(request(asked, options), asked.iterations);
}

std::string failure(const Asked& asked, const Options& options) {
  try {
    (void)elapsed(asked, options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("sci_kernels_verify_and_the_conduit_costs_more_than_sisci") {
  for (const std::string kernel : {"ping-pong", "flood"}) {
    for (const std::string op : {"am-short", "am-medium", "am-long", "put"}) {
      for (const Bytes size : {Bytes{8}, Bytes{512}, Bytes{2048}}) {
        CAPTURE(kernel);
        CAPTURE(op);
        CAPTURE(size);
        const std::int64_t conduit = elapsed({.kernel = kernel, .op = op, .size = size});
        CHECK(conduit > elapsed({.kernel = kernel, .op = op, .size = size, .conduit = "raw@sci"}));
      }
    }
  }
}

TEST_CASE("sci_jobs_give_the_same_strictly_and_on_two_threads") {
  for (const Asked& asked : {Asked{.kernel = "random-access",
                                   .op = "update",
                                   .variant = "am",
                                   .size = 64 * 1024,
                                   .ranks = 16,
                                   .placement = "round-robin",
                                   .iterations = 100},
                             Asked{.kernel = "barrier", .op = "barrier", .ranks = 9, .placement = "fill"},
                             Asked{.kernel = "flood", .op = "put", .size = 100'000},
                             Asked{.kernel = "flood", .op = "get", .size = 100'000}}) {
    CAPTURE(asked.kernel);
    const std::int64_t lazy = elapsed(asked);
    CHECK(lazy == elapsed(asked, {{"sync", "strict"}}));
    CHECK(lazy == elapsed(asked, {{"threads", "2"}}));
  }
}

TEST_CASE("sci_options_do_what_they_say") {
  const Asked medium{.op = "am-medium", .size = 1000};
  CHECK(elapsed(medium, {{"check", "transaction"}}) > elapsed(medium));
  CHECK(elapsed(medium, {{"medium", "one-transaction"}}) != elapsed(medium));
  const Asked flood{.kernel = "flood", .op = "am-short"};
  CHECK(elapsed(flood, {{"slots", "1"}}) > elapsed(flood));
  const Asked whole{.op = "am-long", .size = 1500};
  CHECK(elapsed(whole, {{"long_pio", "1000"}}) > elapsed(whole, {{"long_pio", "1501"}}));
  CHECK(elapsed(whole, {{"long_pio", "1501"}}) == elapsed(whole));
  const Asked large{.op = "am-long", .size = 100'000};
  CHECK(elapsed(large, {{"dma_alignment", "64"}}) >
        elapsed(large));  // 100000 is no multiple of 64, which leaves a tail
  const Asked raw{.op = "put", .size = 4096, .conduit = "raw@sci"};
  CHECK(elapsed(raw, {{"path", "dma"}}) > elapsed(raw));
}

TEST_CASE("sci_options_out_of_bounds_are_refused_in_one_line") {
  CHECK(failure({}, {{"slots", "0"}}) == "option 'slots=0': allowed are 1 to 16");
  CHECK(failure({}, {{"slots", "17"}}) == "option 'slots=17': allowed are 1 to 16");
  CHECK(failure({}, {{"long_pio", "2049"}}) == "option 'long_pio=2049': allowed are 0 to 2048");
  CHECK(failure({}, {{"long_pio", "-1"}}) == "option 'long_pio=-1': allowed are 0 to 2048");
  CHECK(failure({.topology = "torus2d:4x2"}, {}).find("rings that go one way") != std::string::npos);
}

TEST_CASE("sci_a_neighbourhood_needs_no_card") {
  const Asked asked{.placement = "fill"};
  CHECK(elapsed(asked, {{"neighbourhood", "true"}}) < elapsed(asked));
}

TEST_CASE("sci_kernels_without_a_raw_program_say_so") {
  CHECK_THROWS_AS((void)elapsed({.kernel = "random-access", .op = "update", .size = 64 * 1024, .conduit = "raw@sci"}),
                  UsageError);
}

}  // namespace
}  // namespace gasmeter::run::sci_job_test

// Kernels on modelled sockets, as requests ask for them: both protocols, with and without losses, block after block.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/run/model_job.hpp"
#include "support/invented_machine.hpp"

namespace gasmeter::run::ethernet_job_test {
namespace {

using Options = std::map<std::string, std::string>;

struct Asked {
  std::string kernel = "ping-pong";
  std::string op = "am-medium";
  std::string variant{};
  Bytes size = 100;
  std::uint32_t ranks = 2;
  std::string conduit = "udp@ethernet";
  std::uint64_t iterations = 30;
};

Request request(const Asked& asked, const Options& options) {
  static const kernels::Registry registry = kernels::Registry::with_all_kernels();
  Request result = Request::check(
      registry, {asked.kernel, asked.op, asked.conduit, asked.variant, asked.size, 1, asked.ranks, options});
  result.machine = testing::invented_machine("ethernet", "crossbar:4");
  return result;
}

// Return the times of some blocks, in ps.
std::vector<std::int64_t> elapsed(const Asked& asked, const Options& options, unsigned blocks = 3) {
  ModelJob job(request(asked, options));
  std::vector<std::int64_t> times;
  for (unsigned i = 0; i < blocks; ++i) {
    times.push_back(job.run(asked.iterations).elapsed.ps);
    // A block does not include what ranks do for one another after it.
    CHECK(job.block_length().ps >= times.back());
    CHECK(job.block_length().ps < 3 * times.back() + 1'000'000'000);
  }
  const kernels::Verification verification = job.verify();
  CHECK(verification.checked > 0);
  CHECK(verification.errors <= verification.allowed);
  return times;
}

Options with(Options options, const std::string& name, const std::string& value) {
  options[name] = value;
  return options;
}

TEST_CASE("kernels_on_modelled_sockets_verify_and_give_the_same_strictly_and_on_two_threads") {
  for (const std::string protocol : {"window", "amudp"}) {
    for (const std::string loss : {"0", "0.05"}) {
      CAPTURE(protocol);
      CAPTURE(loss);
      const Options options{{"protocol", protocol}, {"loss", loss}};
      for (const Asked& asked :
           {Asked{}, Asked{.op = "am-long", .size = 5'000}, Asked{.op = "put", .size = 20'000, .iterations = 10},
            Asked{.op = "get", .size = 64}, Asked{.kernel = "flood", .op = "put", .size = 3'000},
            Asked{.kernel = "barrier", .op = "barrier", .size = 0, .ranks = 4},
            Asked{.kernel = "random-access",
                  .op = "update",
                  .variant = "am",
                  .size = 65'536,
                  .ranks = 4,
                  .iterations = 300}}) {
        CAPTURE(asked.kernel);
        CAPTURE(asked.op);
        const std::vector<std::int64_t> lazy = elapsed(asked, options);
        CHECK(lazy == elapsed(asked, with(options, "sync", "strict")));
        CHECK(lazy == elapsed(asked, with(options, "threads", "2")));
      }
    }
  }
}

TEST_CASE("messages_that_requests_answer_verify_and_cost_the_classic_scheme_twice_the_datagrams") {
  for (const std::string op : {"am-short", "am-medium", "am-long"}) {
    CAPTURE(op);
    const Asked asked{.op = op, .size = op == "am-short" ? 0U : 100U};
    for (const std::string protocol : {"window", "amudp"}) {
      CAPTURE(protocol);
      const Options options{{"protocol", protocol}, {"pong", "request"}};
      const std::vector<std::int64_t> lazy = elapsed(asked, options);
      CHECK(lazy == elapsed(asked, with(options, "sync", "strict")));
      CHECK(lazy == elapsed(asked, with(options, "threads", "2")));
    }
    const auto classic = [&asked](const std::string& pong) {
      return elapsed(asked, {{"protocol", "amudp"}, {"pong", pong}}).back();
    };
    CHECK(classic("request") > classic("reply"));
  }
}

TEST_CASE("every_block_without_losses_takes_as_long_as_the_others") {
  for (const std::string protocol : {"window", "amudp"}) {
    const std::vector<std::int64_t> times = elapsed({}, {{"protocol", protocol}}, 4);
    // Blocks differ by a few polls, depending on when the other rank began.
    for (const std::int64_t time : times) CHECK(std::abs(time - times.front()) <= 30 * 2 * 1'000'000);
  }
}

TEST_CASE("raw_programs_run_on_modelled_sockets") {
  for (const std::string conduit : {"raw@ethernet", "raw@ipoib"}) {
    for (const Asked& asked :
         {Asked{.op = "am-short", .size = 0}, Asked{.op = "put", .size = 65'000}, Asked{.op = "get", .size = 8},
          Asked{.kernel = "flood", .op = "put", .size = 200'000, .iterations = 3},
          Asked{.kernel = "flood", .op = "am-short", .size = 0, .iterations = 5'000}}) {
      Asked raw = asked;
      raw.conduit = conduit;
      const std::vector<std::int64_t> lazy = elapsed(raw, {});
      CHECK(lazy == elapsed(raw, {{"sync", "strict"}}));
      CHECK(lazy == elapsed(raw, {{"threads", "2"}}));
    }
  }
}

TEST_CASE("the_conduit_costs_more_than_the_socket_alone") {
  for (const std::string caches : {"true", "false"}) {
    for (const Bytes size : {8U, 500U}) {
      const Asked asked{.size = size};
      Asked raw = asked;
      raw.conduit = "raw@ethernet";
      const Options options{{"caches", caches}};
      const std::int64_t bare = elapsed(raw, options).back();
      CHECK(elapsed(asked, with(options, "protocol", "amudp")).back() > bare);
      CHECK(elapsed(asked, options).back() > bare);
    }
  }
}

TEST_CASE("caches_off_and_sleeping_receivers_cost_what_they_say") {
  const Asked raw{.op = "am-short", .size = 0, .conduit = "raw@ethernet", .iterations = 1};
  const auto round_trip = [&raw](const Options& options) { return elapsed(raw, options).front(); };
  const std::int64_t spinning = round_trip({});
  // The difference is twice a wake-up, without half of a look.
  CHECK(round_trip({{"wait", "sleep"}}) == spinning + 2 * (3'000'000 - 250'000));
  // An instruction takes 40 ns, a byte of a copy 10 ns. Sending takes 160 us, receiving 40000 + 400 + 8 x 10 ns behind
  // it. Then come 120 and 80 us in the kernel and half of a look of 40 us, beside 5 us that are not software.
  const std::int64_t sent = 160'000'000 + 480'000;
  const std::int64_t arrives = 672'000 + 2'000'000 + 2'000'000 + 1'000;
  const std::int64_t received = 120'000'000 + 80'000'000 + 20'000'000 + 80'000'000 + 480'000;
  CHECK(round_trip({{"caches", "false"}}) == 2 * (sent + arrives + received));
}

TEST_CASE("classic_protocol_leaves_large_longs_to_ip_and_an_option_does_not") {
  const Asked asked{.op = "am-long", .size = 60'000, .iterations = 3};
  CHECK(elapsed(asked, {{"protocol", "amudp"}}).size() == 3);
  CHECK_THROWS_AS((void)elapsed(asked, {{"protocol", "amudp"}, {"datagram", "1472"}}), UsageError);
  CHECK(elapsed(asked, {{"datagram", "60000"}}) != elapsed(asked, {}));
  CHECK_THROWS_AS((void)elapsed(asked, {{"datagram", "-1"}}), UsageError);
  CHECK_THROWS_AS((void)elapsed(asked, {{"datagram", "70000"}}), UsageError);
  CHECK_THROWS_AS((void)elapsed(asked, {{"loss", "1"}}), UsageError);
}

}  // namespace
}  // namespace gasmeter::run::ethernet_job_test

// Costs of kernels' options in virtual time, compared with sums done by hand: tests/golden/kernels.md.
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/run/model_job.hpp"
#include "jobs.hpp"

namespace gasmeter::kernels::testing::golden_test {
namespace {

using Options = std::map<std::string, std::string>;

run::Request asked(const std::string& kernel, const std::string& op, Bytes size, const Options& options,
                   const std::string& conduit = "ideal", std::uint32_t ranks = 2) {
  static const Registry registry = Registry::with_all_kernels();
  return run::Request::check(registry, {kernel, op, conduit, "", size, 42, ranks, options});
}

// Return the picoseconds of a first block, whose data verify, lazily and strictly.
std::int64_t elapsed(const std::string& kernel, const std::string& op, Bytes size, Options options,
                     std::uint64_t operations = 1, const std::string& conduit = "ideal") {
  std::int64_t times[2];
  for (const bool strict : {false, true}) {
    options["sync"] = strict ? "strict" : "lazy";
    run::ModelJob job(asked(kernel, op, size, options, conduit));
    times[strict ? 1 : 0] = job.run(operations).elapsed.ps;
    const Verification verification = job.verify();
    CHECK(verification.checked > 0);
    CHECK(verification.errors == 0);
  }
  CHECK(times[0] == times[1]);
  return times[0];
}

TEST_CASE("answer_without_payload_takes_what_the_sum_says") {
  CHECK(elapsed("ping-pong", "am-medium", 100, {}) == 3'160'000);
  CHECK(elapsed("ping-pong", "am-medium", 100, {{"answer", "empty"}}) == 3'040'000);
  CHECK(elapsed("ping-pong", "am-medium", 100, {{"answer", "empty"}}, 1, "raw@ideal") == 2'900'000);
}

// Each request is a message, as the reply is, and no poll lies in between.
TEST_CASE("message_that_is_answered_by_a_request_takes_as_long_where_replies_cost_the_same") {
  CHECK(elapsed("ping-pong", "am-medium", 100, {{"pong", "request"}}) == 3'160'000);
  CHECK(elapsed("ping-pong", "am-medium", 100, {{"pong", "request"}, {"answer", "empty"}}) == 3'040'000);
  CHECK_THROWS_AS((void)elapsed("ping-pong", "put", 8, {{"pong", "request"}}), UsageError);
  CHECK_THROWS_AS((void)elapsed("ping-pong", "am-medium", 8, {{"pong", "request"}}, 1, "raw@ideal"), UsageError);
}

TEST_CASE("buffer_outside_the_segment_is_registered_at_its_first_use") {
  const Options native{{"put", "native"}, {"registration", "cached"}};
  Options inside = native;
  inside["local"] = "segment";
  CHECK(elapsed("ping-pong", "put", 100, inside) == 2'420'000);
  CHECK(elapsed("ping-pong", "put", 100, native) == 3'624'800);
  CHECK(elapsed("ping-pong", "put", 100, native, 2) == 3'624'800 + 2'420'000);
}

TEST_CASE("window_of_a_flood_is_answered_before_the_next_one") {
  CHECK(elapsed("flood", "am-short", 0, {}, 2) == 3'240'000);
  CHECK(elapsed("flood", "am-short", 0, {{"window", "2"}}, 2) == 3'240'000);
  CHECK(elapsed("flood", "am-short", 0, {{"window", "1"}}, 2) == 5'840'000);
  CHECK(elapsed("flood", "put", 64, {{"window", "1"}}, 3) == elapsed("ping-pong", "put", 64, {}, 3));
}

// Both sides begin `offset` bytes behind a page, and memory before it is untouched.
TEST_CASE("transfers_land_where_the_offset_says") {
  constexpr Bytes kOffset = 513;
  constexpr Bytes kSize = 1000;
  for (const char* kernel : {"ping-pong", "flood"}) {
    for (const char* op : {"put", "get", "am-long"}) {
      for (const char* local : {"outside", "segment"}) {
        CAPTURE(kernel);
        CAPTURE(op);
        CAPTURE(local);
        Trial trial{.request = asked(kernel, op, kSize, {{"offset", std::to_string(kOffset)}, {"local", local}})};
        const bool is_inside = std::string(local) == "segment";
        trial.tamper = [&](Rank rank, const std::byte* memory, Bytes bytes) {
          constexpr Bytes kPage = 4096;
          CHECK(bytes >= (is_inside ? kPage : 0) + kOffset + kSize);
          if (rank == Rank{1} && std::string(op) != "get") CHECK(count_differences(memory + kOffset, kSize, 42) == 0);
          const bool is_got = std::string(op) == "get" && std::string(kernel) == "ping-pong";  // nothing there yet
          if (rank == Rank{0} && is_inside && !is_got)
            CHECK(count_differences(memory + kPage + kOffset, kSize, 42) == 0);
          for (const Bytes begin : {Bytes{0}, kPage}) {
            for (Bytes at = begin; at < std::min(begin + kOffset, bytes); ++at) REQUIRE(memory[at] == std::byte{0});
          }
        };
        for (const Verification& verification :
             {try_modelled(trial), try_on_threads(trial, trial.request.kernel->make_real)}) {
          CHECK(verification.checked > 0);
          CHECK(verification.errors == 0);
        }
      }
    }
  }
}

TEST_CASE("poll_before_an_injection_costs_a_miss") {
  const Options polls{{"poll_at_injection", "true"}};
  CHECK(elapsed("ping-pong", "am-short", 0, {}) == 2'920'000);
  CHECK(elapsed("ping-pong", "am-short", 0, polls) == 2'930'000);
  Options native{{"put", "native"}, {"local", "segment"}};
  CHECK(elapsed("ping-pong", "put", 100, native) == 2'420'000);
  native.merge(Options(polls));
  CHECK(elapsed("ping-pong", "put", 100, native) == 2'430'000);
}

// The difference is a fixed payload's copy, both ways, and 5 ns to enter the library once more either way, which polls
// of 10 ns make 15. Rank 1 finds the request one poll later, and rank 0 looks 5 ns later throughout.
TEST_CASE("negotiated_payload_in_its_reference_form_costs_a_copy_and_a_call_more") {
  const Options reference{{"np_am", "reference"}};
  CHECK(elapsed("am", "np-medium", 100, {}) == 3'120'000);
  CHECK(elapsed("am", "np-medium", 100, reference) == 3'175'000);
  CHECK(elapsed("am", "medium", 100, reference) == 3'160'000);
  CHECK(elapsed("am", "np-medium-client", 100, reference) == 3'175'000);
  CHECK(elapsed("am", "np-medium-client", 100, {}) == 3'160'000);
}

// Puts of more than 8192 bytes exceed the interface's copy.
TEST_CASE("flood_of_puts_without_local_completion_waits_for_each") {
  const Options native{{"put", "native"}};
  Options reference = native;
  reference["local_completion"] = "reference";
  for (const char* op : {"now", "event"}) {
    CAPTURE(op);
    CHECK(elapsed("local-completion", op, 8192, reference, 4) > elapsed("local-completion", op, 8192, native, 4));
  }
  CHECK(elapsed("local-completion", "now", 64, reference, 4) == elapsed("local-completion", "now", 64, native, 4));
}

TEST_CASE("fetch_and_add_is_done_as_the_option_says") {
  CHECK(elapsed("fetch-add", "latency", 8, {}) == 3'070'000);
  CHECK(elapsed("fetch-add", "latency", 8, {{"atomics", "reference"}}) == 3'070'000);
  CHECK(elapsed("fetch-add", "latency", 8, {{"atomics", "messages"}}) == 3'070'000);
  Options mates{{"neighbourhood", "true"}, {"nodes", "1"}};
  const std::int64_t direct = elapsed("fetch-add", "latency", 8, mates);
  mates["atomics"] = "reference";
  CHECK(elapsed("fetch-add", "latency", 8, mates) == direct);
  mates["atomics"] = "messages";
  CHECK(elapsed("fetch-add", "latency", 8, mates) > 3 * direct);
}

TEST_CASE("exchange_ends_with_what_it_was_told_to_end_with") {
  Options one{{"messages", "1"}, {"payload", "64"}, {"sleep", "20"}};
  CHECK(elapsed("immediate", "static", 0, one) == 21'896'400);
  one["finish"] = "barrier";
  CHECK(elapsed("immediate", "static", 0, one) == 1'481'400);
}

TEST_CASE("barrier_at_the_end_loses_no_message_of_sleeping_receivers") {
  const Options few{{"messages", "64"}, {"sleep", "20"}, {"finish", "barrier"}};
  for (const std::uint32_t ranks : {2U, 5U}) {
    CAPTURE(ranks);
    const Trial trial{.request = asked("immediate", "compare", 0, few, "ideal", ranks), .iterations = 1};
    const Verification verification = try_modelled(trial);
    CHECK(verification.checked > 0);
    CHECK(verification.errors == 0);
  }
  const Trial trial{.request = asked("immediate", "compare", 0, few, "ideal", 3), .iterations = 1};
  const Verification verification = try_on_threads(trial, trial.request.kernel->make_real);
  CHECK(verification.checked > 0);
  CHECK(verification.errors == 0);
}

TEST_CASE("word_of_32_bits_takes_what_the_sum_says_and_fewer_bytes") {
  const auto bytes_of_one = [](const std::string& type) {
    run::ModelJob job(asked("fetch-add", "latency", 0, {{"type", type}}));
    const auto sent = [&](std::uint64_t operations) {
      const std::uint64_t before = *job.counts().of(conduit::Count::packet_bytes);
      (void)job.run(operations);
      return *job.counts().of(conduit::Count::packet_bytes) - before;
    };
    const std::uint64_t one = sent(1);
    return sent(2) - one;
  };
  CHECK(elapsed("fetch-add", "latency", 0, {}) == 3'070'000);
  CHECK(elapsed("fetch-add", "latency", 0, {{"type", "u32"}}) == 3'070'000);
  CHECK(bytes_of_one("u64") == 48 + 36);
  CHECK(bytes_of_one("u32") == 44 + 32);
}

TEST_CASE("word_of_32_bits_verifies_on_every_host_and_raw") {
  for (const char* const op : {"latency", "rate", "hot-spot"}) {
    CAPTURE(op);
    const Options narrow{{"type", "u32"}};
    const Trial trial{.request = asked("fetch-add", op, 0, narrow)};
    const Trial raw{.request = asked("fetch-add", op, 0, narrow, "raw@shm")};
    for (const Verification& verification :
         {try_modelled(trial), try_on_threads(trial, trial.request.kernel->make_real),
          try_on_threads(trial, trial.request.kernel->make_threaded), try_raw(raw)}) {
      CHECK(verification.checked > 0);
      CHECK(verification.errors == 0);
    }
  }
}

TEST_CASE("generated_payload_has_a_price_of_its_own") {
  const Options fill{{"generate", "fill"}};
  Options dear = fill;
  dear["generate_byte"] = "0.5";
  CHECK(elapsed("am", "medium", 100, fill) == 3'200'000);
  CHECK(elapsed("am", "medium", 100, {{"generate", "fill"}, {"generate_byte", "0"}}) == 3'200'000);
  CHECK(elapsed("am", "medium", 100, dear) == 3'260'000);
  CHECK(elapsed("am", "medium", 100, {{"generate_byte", "0.5"}}) == elapsed("am", "medium", 100, {}));
}

TEST_CASE("options_out_of_range_are_refused") {
  const auto refused = [](const std::string& kernel, const std::string& op, const Options& options,
                          const std::string& text) {
    CHECK_THROWS_WITH_AS((void)asked(kernel, op, 8, options), text.c_str(), UsageError);
  };
  for (const char* const offset : {"-1", "4096"}) {
    refused("ping-pong", "put", {{"offset", offset}},
            "kernel ping-pong: option 'offset=" + std::string(offset) + "': allowed are 0 to 4095 bytes");
  }
  refused("flood", "put", {{"offset", "4096"}}, "kernel flood: option 'offset=4096': allowed are 0 to 4095 bytes");
  refused("flood", "put", {{"window", "-1"}},
          "kernel flood: option 'window=-1': allowed are 0 to 1000000000 operations");
}

TEST_CASE("raw_programs_refuse_what_they_do_not_know") {
  CHECK_THROWS_WITH_AS(run::ModelJob(asked("ping-pong", "am-medium", 8, {{"offset", "8"}}, "raw@ideal")),
                       "kernel ping-pong on raw@ideal, op am-medium: option 'offset=8': it has offset=0 alone",
                       UsageError);
}

}  // namespace
}  // namespace gasmeter::kernels::testing::golden_test

// The conduit alone: golden times, slots and refusals. tests/golden/sci.md derives the times. The conformance suite
// (family sci) checks the rules that hold for every conduit.
#include "gasmeter/networks/sci/sci_conduit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/sci/conduit_job.hpp"

namespace gasmeter::networks::sci::sci_conduit_test {
namespace {

using namespace testing;
using conduit::AmBuffer;
using conduit::AmView;
using conduit::Category;
using conduit::PollFilter;
using gasmeter::testing::RoundTrip;
using gasmeter::testing::short_round_trip;

constexpr auto kTransaction = SciOptions::Check::transaction;

TEST_CASE("sci_short_and_its_reply_have_their_golden_times") {
  for (const bool strict : {false, true}) {
    Job job({.strict = strict});
    CHECK(short_round_trip(job) == RoundTrip{1'476'000, 2'570'000, 4'046'000, 5'136'000});
    Job looking({.strict = strict}, {}, with_instructions());
    CHECK(short_round_trip(looking) == RoundTrip{1'476'000, 2'570'000, 4'074'000, 5'160'000});
    Job checked({.strict = strict}, {.check = kTransaction});
    CHECK(short_round_trip(checked) == RoundTrip{3'748'000, 3'700'000, 7'448'000, 7'398'000});
  }
}

struct OneWay {
  std::int64_t sent = 0;     // ps from the ranks' clocks at the start
  std::int64_t handled = 0;  // the handler begins
  bool operator==(const OneWay&) const = default;
};

std::ostream& operator<<(std::ostream& out, const OneWay& times) {
  return out << times.sent << ", " << times.handled;
}

// Send a request from rank 0 to rank 1. `prepared`: the payload is made in the conduit's buffer, else it lies in the
// rank's own memory.
OneWay one_way(Job& job, Category category, Bytes size, bool prepared = true, Bytes offset = 0) {
  OneWay times;
  const SimTime begin[] = {job.host(0).now(), job.host(1).now()};
  const std::vector<std::byte> payload = patterned(size, 3);
  void* const destination = category == Category::long_message ? job.at(1, offset) : nullptr;
  job.engine.start(Rank{0}, [&] {
    AmBuffer buffer;
    REQUIRE(job.conduits[0]->prepare(header_to(1, category), prepared ? nullptr : payload.data(), size, size, buffer) ==
            Status::ok);
    if (prepared) std::copy(payload.begin(), payload.end(), static_cast<std::byte*>(buffer.data));
    REQUIRE(job.conduits[0]->commit(buffer, {HandlerIndex{7}, size, destination, {}}, conduit::kNoOperation) ==
            Status::ok);
    times.sent = (job.host(0).now() - begin[0]).ps;
    Sink sink;
    while (job.conduits[0]->requests_under_way(Rank{1}) != 0) {
      if (job.conduits[0]->poll(sink, 16, PollFilter::everything) == 0) job.host(0).idle(kNever);
    }
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([&](const AmView& message) {
      times.handled = (job.host(1).now() - begin[1]).ps;
      CHECK(message.size == size);
      CHECK(has_pattern(message.payload, size, 3));
    });
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
  return times;
}

TEST_CASE("sci_mediums_and_longs_have_their_golden_times") {
  for (const bool strict : {false, true}) {
    CAPTURE(strict);
    const auto times = [&](const SciOptions& options, Category category, Bytes size, bool prepared, Bytes offset = 0) {
      Job job({.strict = strict}, options);
      return one_way(job, category, size, prepared, offset);
    };
    for (const bool prepared : {true, false}) {
      CHECK(times({}, Category::medium, 100, prepared) == OneWay{1'984'000, 3'070'000});
      CHECK(times({.check = kTransaction}, Category::medium, 100, prepared) == OneWay{5'392'000, 5'350'000});
      CHECK(times({}, Category::long_message, 100, prepared) == OneWay{2'000'000, 3'110'000});
    }
    // One store: 84 less. Bytes that lie elsewhere are copied, 20.
    CHECK(times({.one_transaction = true}, Category::medium, 100, true) == OneWay{1'900'000, 2'990'000});
    CHECK(times({.one_transaction = true}, Category::medium, 100, false) == OneWay{1'920'000, 3'010'000});
    // Sent by DMA, with a head of 5 and a tail of 3.
    CHECK(times({}, Category::long_message, 3000, true, 3) == OneWay{714'000, 45'870'800});
    CHECK(times({}, Category::long_message, 3000, false, 3) == OneWay{714'000, 45'870'800});
    // Without edges, from the staging buffer: no copy.
    CHECK(times({}, Category::long_message, 3000, true) == OneWay{268'000, 45'400'000});
  }
}

TEST_CASE("sci_layout_holds_what_the_constants_say") {
  CHECK(kMostMedium == 2048);
  CHECK(kMostLong == 512 * 1024);
  CHECK(kSlotBytes == 2048 + 80);
  for (const Category category : {Category::short_message, Category::medium, Category::long_message}) {
    for (unsigned arguments = 0; arguments <= conduit::kMaxArguments; ++arguments) {
      CAPTURE(arguments);
      CHECK(kLayout.payload_at(category, arguments) >= kLayout.header_bytes(category, arguments));
      CHECK(kLayout.payload_at(category, arguments) < kLayout.header_bytes(category, arguments) + services::kAlignment);
      CHECK(kLayout.payload_at(category, arguments) % services::kAlignment == 0);
      CHECK(kLayout.payload_at(category, arguments) + kMostMedium <= kSlotBytes);
    }
  }
  const Layout layout{5, 3};
  std::vector<bool> seen(layout.slots());
  for (unsigned rank = 0; rank < 5; ++rank) {
    for (const bool is_reply : {false, true}) {
      for (unsigned pair = 0; pair < 3; ++pair) {
        const std::uint32_t slot = layout.slot(Rank{rank}, is_reply, pair);
        REQUIRE(slot < layout.slots());
        CHECK_FALSE(seen[slot]);
        seen[slot] = true;
        CHECK(layout.sender_of(slot) == Rank{rank});
        CHECK(layout.holds_replies(slot) == is_reply);
        CHECK(layout.pair_of(slot) == pair);
      }
    }
  }
  CHECK(layout.exist_flag() == layout.slots());
  CHECK(layout.control_bytes() == layout.slots() + 1);
  CHECK(layout.command_bytes() == 5 * 2 * 3 * 2128);
}

TEST_CASE("sci_conduit_refuses_options_in_one_line") {
  const auto failure = [](const SciOptions& options) -> std::string {
    try {
      const Job job({}, options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(failure({.pairs = 0}) == "sci: 0 slots for the requests of a peer; 1..16 are allowed");
  CHECK(failure({.pairs = 17}) == "sci: 17 slots for the requests of a peer; 1..16 are allowed");
  CHECK(failure({.long_pio = 2049}) == "sci: Longs of fewer than 2049 bytes by stores; a slot has room for 2048");
  CHECK(failure({.small_buffers = 1}) ==
        "sci: limits that carry no message; a buffer and a transfer are kept for "
        "replies");
  CHECK(failure({.transfers = 1}) == "sci: limits that carry no message; a buffer and a transfer are kept for replies");
  CHECK(failure({.pairs = 16, .long_pio = 2048, .small_buffers = 2, .transfers = 2}).empty());
}

TEST_CASE("sci_messages_to_nobody_and_of_too_many_bytes_are_refused") {
  Job job;
  AmBuffer buffer;
  const auto failure = [&](unsigned peer, Category category, Bytes size) -> std::string {
    try {
      (void)job.conduits[0]->prepare(header_to(peer, category), nullptr, size, size, buffer);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(failure(2, Category::short_message, 0) == "sci: message to rank 2; ranks are 0..1");
  CHECK(failure(1, Category::medium, 2049).find("2048") != std::string::npos);
  CHECK(failure(1, Category::long_message, 512 * 1024 + 1).find("524288") != std::string::npos);
}

// The sender prepares as many requests as there are slots. Slots of requests that were handled without a reply are free
// again.
TEST_CASE("sci_requests_without_a_reply_free_their_slots") {
  for (const unsigned pairs : {1U, 2U, 3U, 16U}) {
    CAPTURE(pairs);
    Job job({}, {.pairs = pairs});
    job.engine.start(Rank{0}, [&] {
      Sink sink;
      for (int round = 0; round < 3; ++round) {
        for (unsigned i = 0; i < pairs; ++i) {
          CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
        }
        CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::no_resource);
        wait(*job.conduits[0], job.host(0), sink, [&] { return job.conduits[0]->requests_under_way(Rank{1}) == 0; });
      }
      CHECK(sink.messages == 0);
    });
    job.engine.start(Rank{1}, [&] {
      Sink sink;
      wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 3 * pairs; });
    });
    job.engine.run();
  }
}

TEST_CASE("sci_prepared_requests_that_are_cancelled_free_their_slots") {
  Job job({}, {.pairs = 1});
  job.engine.start(Rank{0}, [&] {
    for (int i = 0; i < 40; ++i) {  // more than there are buffers
      for (const Category category : {Category::short_message, Category::medium, Category::long_message}) {
        AmBuffer buffer;
        const Bytes size = category == Category::short_message ? 0 : category == Category::medium ? 100 : 5000;
        REQUIRE(job.conduits[0]->prepare(header_to(1, category), nullptr, 0, size, buffer) == Status::ok);
        AmBuffer second;
        CHECK(job.conduits[0]->prepare(header_to(1, category), nullptr, 0, size, second) == Status::no_resource);
        job.conduits[0]->cancel(buffer);
      }
    }
    CHECK(job.conduits[0]->requests_under_way(Rank{1}) == 0);
  });
  job.engine.start(Rank{1}, [] {});
  job.engine.run();
}

// The requester uses the slot again as soon as it has the reply, though the handler still reads the slot.
TEST_CASE("sci_a_handler_has_its_slot_to_its_end") {
  Job job({}, {.pairs = 1});
  constexpr unsigned kRounds = 4;
  job.engine.start(Rank{0}, [&] {
    Sink sink;
    for (unsigned round = 0; round < kRounds; ++round) {
      send_am(*job.conduits[0], job.host(0), sink, header_to(1, Category::medium), patterned(500, round));
      wait(*job.conduits[0], job.host(0), sink, [&] { return sink.messages == round + 1; });
    }
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.host(1);
    Sink sink;
    Sink handling([&](const AmView& request) {
      CHECK(has_pattern(request.payload, 500, handling.messages - 1));
      CHECK(try_send(*job.conduits[1], reply_to(request, Category::short_message)) == Status::ok);
      host.spend(SimTime{50'000'000});
      host.synchronise();
      CHECK(has_pattern(request.payload, 500, handling.messages - 1));
    });
    wait(*job.conduits[1], host, handling, [&] { return handling.messages == kRounds; });
  });
  job.engine.run();
}

// The reply stays in its slot while its handler runs. The next message of the slot comes later.
TEST_CASE("sci_a_reply_handler_has_its_slot_to_its_end") {
  Job job({}, {.pairs = 1});
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.host(0);
    Sink sink([&](const AmView& reply) {
      CHECK(has_pattern(reply.payload, 300, sink.messages - 1));
      host.spend(SimTime{50'000'000});
      host.synchronise();
      CHECK(has_pattern(reply.payload, 300, sink.messages - 1));
      // The slot is not free yet.
      CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::no_resource);
    });
    for (unsigned round = 0; round < 3; ++round) {
      send_am(*job.conduits[0], host, sink, header_to(1, Category::short_message));
      wait(*job.conduits[0], host, sink, [&] { return sink.messages == round + 1; });
    }
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([&](const AmView& request) {
      CHECK(try_send(*job.conduits[1], reply_to(request, Category::medium), {}, patterned(300, sink.messages - 1)) ==
            Status::ok);
    });
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 3; });
  });
  job.engine.run();
}

// A handler that throws has handled its request: the slot is free, and the exception passes on.
TEST_CASE("sci_a_handler_that_throws_frees_its_slot") {
  Job job({}, {.pairs = 1});
  job.engine.start(Rank{0}, [&] {
    Sink sink;
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    wait(*job.conduits[0], job.host(0), sink, [&] { return job.conduits[0]->requests_under_way(Rank{1}) == 0; });
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([](const AmView&) { throw Error("of the handler"); });
    std::string what;
    while (what.empty()) {
      try {
        if (job.conduits[1]->poll(sink, 16, PollFilter::everything) == 0) job.host(1).idle(kNever);
      } catch (const Error& error) {
        what = error.what();
      }
    }
    CHECK(what == "of the handler");
  });
  job.engine.run();
}

// Each peer has a command segment of its own, and the driver finds memory for one after the other.
TEST_CASE("sci_many_ranks_have_small_command_segments") {
  SciParameters parameters;
  parameters.segment_limit = 20'000;
  Job job({.ranks = 12, .topology = "oneway-ring:12"}, {}, parameters, {}, 64);
  CHECK(job.conduits[0]->reserved_bytes() > 12 * 2 * 2 * 2128);
  std::string failure;
  try {
    const Job deep({.ranks = 12, .topology = "oneway-ring:12"}, {.pairs = 5}, parameters, {}, 64);
  } catch (const UsageError& error) {
    failure = error.what();
  }
  CHECK(failure ==
        "sci: rank 0 exports a segment of 21280 bytes; the driver finds 20000 bytes that are contiguous "
        "(driver.segment_limit), more with big_area=on");
}

TEST_CASE("sci_reserved_bytes_are_segments_and_buffers") {
  const Job job({.ranks = 3, .topology = "oneway-ring:3"});
  // 3 x 2 x 2 slots of 2128 and their flags, one flag more, 16 small buffers, 2 of 512 KiB, a box.
  CHECK(job.conduits[0]->reserved_bytes() == 12 * 2128 + 13 + 16 * 2128 + 2 * 524288 + 4096);
  const Job more({.ranks = 6, .topology = "oneway-ring:6"}, {.pairs = 4});
  CHECK(more.conduits[5]->reserved_bytes() == 48 * 2128 + 49 + 16 * 2128 + 2 * 524288 + 4096);
}

}  // namespace
}  // namespace gasmeter::networks::sci::sci_conduit_test

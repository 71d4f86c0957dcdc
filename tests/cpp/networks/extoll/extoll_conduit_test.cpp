// Conduit over EXTOLL cards. tests/golden/extoll.md derives the golden times.
#include "gasmeter/networks/extoll/extoll_conduit.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <vector>

#include "conduit_job.hpp"
#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::extoll::extoll_conduit_test {
namespace {

using namespace testing;
using conduit::AmBuffer;
using conduit::AmView;
using conduit::Category;
using conduit::OperationId;
using conduit::PollFilter;
using gasmeter::testing::has_pattern;

TEST_CASE("extoll_short_round_trip_has_its_golden_time") {
  struct Times {
    AmOptions options;
    std::int64_t sent;
    std::int64_t handled;
    std::int64_t back;
  };
  for (const Times& golden : {Times{AmOptions::improved(), 154'000, 1'000'000, 2'004'000},
                              Times{AmOptions::early(), 164'000, 1'020'800, 2'044'800}}) {
    Job job({}, kRoomy, golden.options);
    job.engine.start(Rank{0}, [&] {
      sim::ModelHost host = job.host(0);
      CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
      CHECK(host.now().ps == golden.sent);
      Sink sink([&](const AmView& message) { CHECK_FALSE(message.is_request); });
      wait(*job.conduits[0], host, sink, [&] { return sink.messages == 1; });
      CHECK(host.now().ps == golden.back);
    });
    job.engine.start(Rank{1}, [&] {
      sim::ModelHost host = job.host(1);
      Sink sink([&](const AmView& message) {
        CHECK(host.now().ps == golden.handled);
        CHECK(message.is_request);
        CHECK(message.source == Rank{0});
        CHECK(message.handler == HandlerIndex{7});
        CHECK(message.arguments.empty());
        CHECK(try_send(*job.conduits[1], header_to(0, Category::short_message, 0, true)) == Status::ok);
      });
      wait(*job.conduits[1], host, sink, [&] { return sink.messages == 1; });
    });
    job.engine.run();
  }
}

TEST_CASE("extoll_medium_travels_in_two_packets_in_its_golden_time") {
  Job job;
  const std::vector<std::byte> payload = patterned(100, 4);
  job.engine.start(Rank{0}, [&] {
    const std::array<std::int32_t, 1> arguments{-5};
    CHECK(try_send(*job.conduits[0], header_to(1, Category::medium, 1), arguments, payload) == Status::ok);
    CHECK(job.host(0).now().ps == 258'000);
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.host(1);
    Sink sink([&](const AmView& message) {
      CHECK(host.now().ps == 1'271'200);
      CHECK(message.category == Category::medium);
      REQUIRE(message.arguments.size() == 1);
      CHECK(message.arguments[0] == -5);
      REQUIRE(message.size == payload.size());
      CHECK(reinterpret_cast<std::uintptr_t>(message.payload) % alignof(std::max_align_t) == 0);
      CHECK(has_pattern(message.payload, payload.size(), 4));
    });
    wait(*job.conduits[1], host, sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
}

TEST_CASE("extoll_long_is_complete_with_header_and_put_in_its_golden_time") {
  Job job;
  const std::vector<std::byte> payload = patterned(100, 4);
  std::byte* const target = job.segment(1, 100);
  job.engine.start(Rank{0}, [&] {
    CHECK(try_send(*job.conduits[0], header_to(1, Category::long_message), {}, payload, target) == Status::ok);
    CHECK(job.host(0).now().ps == 218'000);
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.host(1);
    Sink sink([&](const AmView& message) {
      CHECK(host.now().ps == 1'540'800);
      CHECK(message.payload == target);
      CHECK(message.size == 100);
      CHECK(has_pattern(target, 100, 4));
    });
    wait(*job.conduits[1], host, sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
  CHECK(job.port(0).counters().puts == 1);
}

TEST_CASE("extoll_short_to_a_node_mate_through_memory_has_its_golden_time") {
  Job job({.ranks = 2, .topology = "mesh2d:1x1"});
  job.engine.start(Rank{0}, [&] {
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    CHECK(job.host(0).now().ps == 40'000);
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([&](const AmView&) { CHECK(job.host(1).now().ps == 140'000); });
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
  CHECK(job.port(0).counters().velo_sent == 0);
}

TEST_CASE("extoll_largest_messages_with_most_arguments_arrive_near_and_far") {
  std::array<std::int32_t, 16> arguments{};
  for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i] = static_cast<std::int32_t>(i) - 8;
  for (const AmOptions& options : kAllWays) {
    for (const Category category : {Category::medium, Category::long_message}) {
      Job job({.ranks = 4}, kRoomy, options);
      const conduit::Capabilities& can = job.conduits[0]->capabilities();
      CHECK(can.max_request_medium == 8192);
      const Bytes size = category == Category::medium ? can.max_request_medium : can.max_request_long;
      std::vector<std::byte*> segments;
      for (unsigned rank = 0; rank < 4; ++rank) segments.push_back(job.segment(rank, size));
      const std::vector<std::byte> payload = patterned(size, 6);
      job.engine.start(Rank{0}, [&] {
        sim::ModelHost host = job.host(0);
        Sink sink;
        for (const unsigned to : {0U, 1U, 2U, 3U}) {
          send_am(*job.conduits[0], host, sink, header_to(to, category, 16), arguments, payload, segments[to]);
        }
        AmBuffer buffer;
        CHECK_THROWS_AS((void)job.conduits[0]->prepare(header_to(1, category), nullptr, size + 1, 99999, buffer),
                        UsageError);
        wait(*job.conduits[0], host, sink, [&] { return sink.messages == 1; });
        while (host.now().ps < 400'000'000) {  // polls send the rest of the last message
          if (job.conduits[0]->poll(sink, 1, PollFilter::everything) == 0) host.idle({400'000'000});
        }
      });
      for (const unsigned self : {1U, 2U, 3U}) {
        job.engine.start(Rank{self}, [&, self] {
          Sink sink([&](const AmView& message) {
            REQUIRE(message.size == size);
            CHECK(has_pattern(message.payload, size, 6));
            CHECK(std::memcmp(message.arguments.data(), arguments.data(), sizeof arguments) == 0);
          });
          wait(*job.conduits[self], job.host(self), sink, [&] { return sink.messages == 1; });
        });
      }
      job.engine.run();
    }
  }
}

TEST_CASE("extoll_cancelled_and_shortened_messages_give_back_what_they_took") {
  Job job({.ranks = 4});
  std::byte* const target = job.segment(2, 64);
  job.engine.start(Rank{0}, [&] {
    ExtollConduit& conduit = *job.conduits[0];
    for (int i = 0; i < 3; ++i) {
      std::vector<AmBuffer> far(ExtollConduit::kBounceBuffers);
      for (AmBuffer& buffer : far) {
        CHECK(conduit.prepare(header_to(2, Category::long_message), nullptr, 8, 512, buffer) == Status::ok);
      }
      AmBuffer more;
      CHECK(conduit.prepare(header_to(2, Category::long_message), nullptr, 8, 512, more) == Status::no_resource);
      for (const AmBuffer& buffer : far) conduit.cancel(buffer);
      std::vector<AmBuffer> near(services::kNodeSlots);
      for (AmBuffer& buffer : near) {
        CHECK(conduit.prepare(header_to(1, Category::medium), nullptr, 8, 512, buffer) == Status::ok);
      }
      CHECK(conduit.prepare(header_to(1, Category::short_message), nullptr, 0, 0, more) == Status::no_resource);
      for (const AmBuffer& buffer : near) conduit.cancel(buffer);
    }
    AmBuffer buffer;
    CHECK(conduit.prepare(header_to(2, Category::medium), nullptr, 8, 512, buffer) == Status::ok);
    std::memset(buffer.data, 0x5a, 24);
    CHECK(conduit.commit(buffer, {HandlerIndex{7}, 24, nullptr, {}}, OperationId{3}) == Status::ok);
    CHECK(job.port(0).counters().velo_sent == 1);
    CHECK(conduit.prepare(header_to(2, Category::long_message), nullptr, 0, 64, buffer) == Status::ok);
    CHECK(conduit.commit(buffer, {HandlerIndex{7}, 0, target, {}}, OperationId{4}) == Status::ok);
    Sink sink;
    CHECK(conduit.poll(sink, 2, PollFilter::everything) == 2);
    CHECK((sink.done == std::vector<OperationId>{OperationId{3}, OperationId{4}}));
  });
  job.engine.start(Rank{2}, [&] {
    Sink sink([&](const AmView& message) {
      if (message.category == Category::medium) {
        CHECK(message.size == 24);
        CHECK(static_cast<const unsigned char*>(message.payload)[23] == 0x5a);
      } else {
        CHECK(message.size == 0);
        CHECK(message.payload == target);
      }
    });
    wait(*job.conduits[2], job.host(2), sink, [&] { return sink.messages == 2; });
  });
  job.engine.run();
}

// All messages were prepared while the card was empty. The card has no room for all packets of the second message. The
// card has room again when the third is committed, whose packets must not go between those of the second.
TEST_CASE("extoll_messages_that_were_prepared_together_leave_one_after_the_other") {
  ExtollParameters slow = kRoomy;
  slow.velo_send_engine = {1'000'000};  // a store takes less time
  Job job({.ranks = 4}, slow);
  const std::array<std::vector<std::byte>, 3> payloads{patterned(800, 1), patterned(400, 2), patterned(70, 3)};
  job.engine.start(Rank{0}, [&] {
    ExtollConduit& conduit = *job.conduits[0];
    const Bytes before = conduit.reserved_bytes();
    const auto wait_for_room = [&](unsigned packets) {
      while (!job.port(0).has_velo_room(packets)) sleep_until(job.host(0), job.host(0).now() + SimTime{10'000});
    };
    std::array<AmBuffer, 3> buffers;
    for (unsigned i = 0; i < 3; ++i) {
      const Bytes size = payloads[i].size();
      CHECK(conduit.prepare(header_to(2, Category::medium), nullptr, size, size, buffers[i]) == Status::ok);
      std::memcpy(buffers[i].data, payloads[i].data(), size);
    }
    for (unsigned i = 0; i < 3; ++i) {
      if (i != 0) wait_for_room(4);
      CHECK(conduit.commit(buffers[i], {HandlerIndex{7}, payloads[i].size(), nullptr, {}}, conduit::kNoOperation) ==
            Status::ok);
    }
    CHECK(conduit.reserved_bytes() > before);  // part of it waits in host memory
    Sink sink;
    wait(conduit, job.host(0), sink, [&] { return conduit.reserved_bytes() == before; });
  });
  job.engine.start(Rank{2}, [&] {
    Sink sink([&](const AmView& message) {
      const std::vector<std::byte>& payload = payloads[sink.messages - 1];
      REQUIRE(message.size == payload.size());
      CHECK(std::memcmp(message.payload, payload.data(), payload.size()) == 0);
    });
    wait(*job.conduits[2], job.host(2), sink, [&] { return sink.messages == 3; });
  });
  job.engine.run();
}

TEST_CASE("extoll_replies_only_leaves_requests_in_order_for_later") {
  for (const unsigned nodes : {1U, 2U}) {
    for (const AmOptions& options : kAllWays) {
      Job job({.topology = "mesh2d:" + std::to_string(nodes) + "x1"}, kRoomy, options);
      job.engine.start(Rank{0}, [&] {
        for (std::int32_t i = 0; i < 6; ++i) {
          const std::array<std::int32_t, 1> arguments{i};
          CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message, 1, i % 3 == 2), arguments) ==
                Status::ok);
        }
      });
      job.engine.start(Rank{1}, [&] {
        std::vector<std::int32_t> order;
        Sink sink([&](const AmView& message) { order.push_back(message.arguments[0]); });
        sleep_until(job.host(1), {100'000'000});
        CHECK(job.conduits[1]->poll(sink, 1, PollFilter::replies_only) == 1);
        CHECK(job.conduits[1]->poll(sink, 16, PollFilter::replies_only) == 1);
        CHECK(job.conduits[1]->poll(sink, 16, PollFilter::replies_only) == 0);
        CHECK(job.conduits[1]->poll(sink, 3, PollFilter::everything) == 3);
        CHECK(job.conduits[1]->poll(sink, 3, PollFilter::everything) == 1);
        CHECK((order == std::vector<std::int32_t>{2, 5, 0, 1, 3, 4}));
      });
      job.engine.run();
    }
  }
}

TEST_CASE("extoll_packets_that_hold_no_header_are_refused") {
  CHECK_THROWS_WITH_AS(Job({}, {.velo_payload = 15}), "extoll: velo.payload of 15; the conduit needs 16", UsageError);
}

// ---- reserved memory: docs/notes/reserved-memory.md derives the sums

TEST_CASE("extoll_reserves_mailbox_notifications_buffers_and_a_box") {
  constexpr Bytes kPort = 512 * Bytes{64} + 16 * Bytes{16};
  constexpr Bytes kBuffers = 8 * Bytes{32768};
  CHECK(Job({.ranks = 2}).conduits[0]->reserved_bytes() == kPort + kBuffers + 64 * 64);
  CHECK(Job({.ranks = 2}, kRoomy, {.node_by_memory = false}).conduits[0]->reserved_bytes() == kPort + kBuffers);
  CHECK(Job({.ranks = 2}, kRoomy, {.rma_puts = true, .node_by_memory = false}).conduits[0]->reserved_bytes() ==
        kPort + kBuffers + 64 * 8);
}

TEST_CASE("extoll_reserves_what_waits_in_host_memory_while_it_waits") {
  Job job({.ranks = 4});
  const Bytes before = job.conduits[1]->reserved_bytes();
  const std::vector<std::byte> payload = patterned(100, 3);
  job.engine.start(Rank{0}, [&] {
    CHECK(try_send(*job.conduits[0], header_to(1, Category::medium), {}, payload) == Status::ok);
    CHECK(job.conduits[1]->reserved_bytes() == before + 8 + 64 + 1024);
    CHECK(job.conduits[0]->reserved_bytes() == before);
    // The message has 147 packets, of which the card takes 16.
    const std::vector<std::byte> large = patterned(kMostMedium, 4);
    CHECK(try_send(*job.conduits[0], header_to(2, Category::medium), {}, large) == Status::ok);
    CHECK(job.conduits[0]->reserved_bytes() == before + 8 + 64 + kMostMedium);
    Sink sink;
    wait(*job.conduits[0], job.host(0), sink, [&] { return job.conduits[0]->reserved_bytes() == before; });
  });
  for (const unsigned rank : {1U, 2U}) {
    job.engine.start(Rank{rank}, [&, rank] {
      Sink sink;
      wait(*job.conduits[rank], job.host(rank), sink, [&] { return sink.messages == 1; });
      CHECK(job.conduits[rank]->reserved_bytes() == before);
    });
  }
  job.engine.run();
}

}  // namespace
}  // namespace gasmeter::networks::extoll::extoll_conduit_test

// Golden times: tests/golden/extoll.md has the sums.
#include "gasmeter/networks/extoll/extoll_conduit.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "support/pattern.hpp"
#include "world.hpp"

namespace gasmeter::networks::extoll {
namespace {

using namespace testing;
using conduit::AmBuffer;
using conduit::AmHeader;
using conduit::AmView;
using conduit::Category;
using conduit::OperationId;
using conduit::PollFilter;
using gasmeter::testing::has_pattern;
using gasmeter::testing::write_pattern;

const ExtollParameters kRoomy{.mailbox_slots = 256, .read_pointer_update = 16};

struct Job : World {
  explicit Job(const Shape& shape = {}, const ExtollParameters& parameters = kRoomy) : World(shape, parameters) {
    for (unsigned i = 0; i < shape.ranks; ++i) {
      conduits.push_back(std::make_unique<ExtollConduit>(network, host(i), Rank{i}));
    }
  }
  std::vector<std::unique_ptr<ExtollConduit>> conduits;
};

class Sink final : public conduit::Delivery {
 public:
  explicit Sink(std::function<void(const AmView&)> handler = [](const AmView&) {}) : handler_(std::move(handler)) {}
  void arrived(const AmView& message) override {
    ++messages;
    handler_(message);
  }
  void completed(OperationId operation) override { done.push_back(operation); }
  unsigned messages = 0;
  std::vector<OperationId> done;

 private:
  std::function<void(const AmView&)> handler_;
};

template <class Done>
void wait(conduit::Conduit& conduit, sim::ModelHost host, Sink& sink, Done done) {
  while (!done()) {
    if (conduit.poll(sink, 16, PollFilter::everything) == 0) host.idle(conduit.next_deadline());
  }
}

AmHeader header_to(unsigned peer, Category category, unsigned arguments = 0, bool is_reply = false) {
  return {Rank{peer}, category, is_reply, static_cast<std::uint8_t>(arguments), 0};
}

Status try_send(conduit::Conduit& conduit, const AmHeader& header, std::span<const std::int32_t> arguments = {},
                std::span<const std::byte> payload = {}, void* destination = nullptr) {
  AmBuffer buffer;
  const Status status = conduit.prepare(header, payload.data(), payload.size(), payload.size(), buffer);
  if (status != Status::ok) return status;
  return conduit.commit(buffer, {HandlerIndex{7}, payload.size(), destination, arguments}, conduit::kNoOperation);
}

std::array<std::byte, 100> hundred_bytes() {
  std::array<std::byte, 100> bytes{};
  write_pattern(bytes.data(), bytes.size(), 4);
  return bytes;
}

TEST_CASE("extoll_short_round_trip_has_its_golden_time") {
  Job job;
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.host(0);
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    CHECK(host.now().ps == 124'000);
    Sink sink([&](const AmView& message) { CHECK_FALSE(message.is_request); });
    wait(*job.conduits[0], host, sink, [&] { return sink.messages == 1; });
    CHECK(host.now().ps == 1'884'000);
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.host(1);
    Sink sink([&](const AmView& message) {
      CHECK(host.now().ps == 940'000);
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

TEST_CASE("extoll_medium_travels_in_two_packets_in_its_golden_time") {
  Job job;
  const std::array<std::byte, 100> payload = hundred_bytes();
  job.engine.start(Rank{0}, [&] {
    const std::array<std::int32_t, 1> arguments{-5};
    CHECK(try_send(*job.conduits[0], header_to(1, Category::medium, 1), arguments, payload) == Status::ok);
    CHECK(job.host(0).now().ps == 228'000);
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.host(1);
    Sink sink([&](const AmView& message) {
      CHECK(host.now().ps == 1'210'400);
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

TEST_CASE("extoll_long_travels_in_three_packets_in_its_golden_time") {
  Job job;
  const std::array<std::byte, 100> payload = hundred_bytes();
  std::array<std::byte, 100> segment{};
  job.engine.start(Rank{0}, [&] {
    CHECK(try_send(*job.conduits[0], header_to(1, Category::long_message), {}, payload, segment.data()) == Status::ok);
    CHECK(job.host(0).now().ps == 332'000);
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.host(1);
    Sink sink([&](const AmView& message) {
      CHECK(host.now().ps == 1'340'800);
      CHECK(message.payload == segment.data());
      CHECK(segment == payload);
    });
    wait(*job.conduits[1], host, sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
}

TEST_CASE("extoll_largest_message_with_most_arguments_fits") {
  for (const Category category : {Category::medium, Category::long_message}) {
    Job job;
    CHECK(job.conduits[0]->capabilities().max_request_medium == ExtollConduit::kMostPayload);
    std::vector<std::byte> payload(ExtollConduit::kMostPayload);
    std::vector<std::byte> segment(payload.size());
    write_pattern(payload.data(), payload.size(), 6);
    std::array<std::int32_t, 16> arguments{};
    for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i] = static_cast<std::int32_t>(i) - 8;
    job.engine.start(Rank{0}, [&] {
      CHECK(try_send(*job.conduits[0], header_to(1, category, 16), arguments, payload, segment.data()) == Status::ok);
      AmBuffer buffer;
      CHECK_THROWS_AS((void)job.conduits[0]->prepare(header_to(1, category), nullptr, payload.size() + 1, 9999, buffer),
                      UsageError);
    });
    job.engine.start(Rank{1}, [&] {
      Sink sink([&](const AmView& message) {
        REQUIRE(message.size == payload.size());
        CHECK(has_pattern(message.payload, payload.size(), 6));
        CHECK(std::memcmp(message.arguments.data(), arguments.data(), sizeof arguments) == 0);
      });
      wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 1; });
    });
    job.engine.run();
  }
}

TEST_CASE("extoll_cancelled_and_shortened_messages_give_their_packets_back") {
  Job job({}, {.mailbox_slots = 64, .read_pointer_update = 16});  // a share of 22: messages of up to 12 packets
  job.engine.start(Rank{0}, [&] {
    ExtollConduit& conduit = *job.conduits[0];
    for (int i = 0; i < 100; ++i) {
      AmBuffer buffer;
      AmBuffer second;
      CHECK(conduit.prepare(header_to(1, Category::medium), nullptr, 8, 512, buffer) == Status::ok);
      CHECK(conduit.prepare(header_to(1, Category::medium), nullptr, 512, 512, second) == Status::no_resource);
      conduit.cancel(buffer);
    }
    AmBuffer buffer;
    CHECK(conduit.prepare(header_to(1, Category::medium), nullptr, 8, 512, buffer) == Status::ok);
    std::memset(buffer.data, 0x5a, 24);
    CHECK(conduit.commit(buffer, {HandlerIndex{7}, 24, nullptr, {}}, OperationId{3}) == Status::ok);
    Sink sink;
    CHECK(conduit.poll(sink, 1, PollFilter::everything) == 1);
    CHECK((sink.done == std::vector<OperationId>{OperationId{3}}));
    CHECK(job.port(0).counters().velo_sent == 1);
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([](const AmView& message) {
      CHECK(message.size == 24);
      CHECK(static_cast<const unsigned char*>(message.payload)[23] == 0x5a);
    });
    wait(*job.conduits[1], job.host(1), sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
}

TEST_CASE("extoll_replies_only_leaves_requests_in_order_for_later") {
  Job job;
  job.engine.start(Rank{0}, [&] {
    for (std::int32_t i = 0; i < 6; ++i) {
      const std::array<std::int32_t, 1> arguments{i};
      CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message, 1, i % 3 == 2), arguments) == Status::ok);
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

TEST_CASE("extoll_mailbox_that_is_too_small_for_its_ranks_is_refused") {
  const auto said = [](unsigned slots) {
    try {
      const Job job({}, {.mailbox_slots = slots, .read_pointer_update = 4});
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(said(11).empty());  // 8 for certain, 4 of each rank: 2 of credits, 2 with a message
  CHECK(said(9) ==
        "extoll: a mailbox that takes 6 packets for 2 ranks: each may fill 3 of them, at least 4 are needed; raise "
        "velo.mailbox_slots or run fewer ranks");
}

// Everybody sends to everybody as fast as the credits allow; the largest messages of the smallest share.
TEST_CASE("extoll_credits_keep_mailboxes_from_overflowing") {
  for (const unsigned share : {4U, 5U, 6U, 7U, 12U, 30U}) {
    CAPTURE(share);
    constexpr unsigned kRanks = 5;
    constexpr unsigned kMessages = 60;
    std::vector<std::int64_t> clocks;
    for (const bool strict : {false, true}) {
      Job job({.ranks = kRanks, .topology = "mesh2d:3x1", .strict = strict},
              {.mailbox_slots = kRanks * share + 3, .read_pointer_update = 4});
      const Bytes size = job.conduits[0]->capabilities().max_request_medium;
      std::vector<std::int64_t> ends(kRanks);
      for (unsigned self = 0; self < kRanks; ++self) {
        job.engine.start(Rank{self}, [&, self] {
          sim::ModelHost host = job.host(self);
          std::vector<std::int32_t> next(kRanks);
          unsigned received = 0;
          Sink sink([&](const AmView& message) {
            const unsigned source = index(message.source);
            CHECK(message.arguments[0] == next[source]++);
            CHECK(message.arguments[15] == static_cast<std::int32_t>(self));
            CHECK(message.size == size);
            CHECK(has_pattern(message.payload, size, source * 100 + self));
            ++received;
          });
          std::vector<std::byte> payload(size);
          std::vector<std::int32_t> sent(kRanks);
          unsigned left = kRanks * kMessages;
          while (left != 0 || received != kRanks * kMessages) {
            bool moved = false;
            for (unsigned to = 0; to < kRanks; ++to) {
              if (sent[to] == kMessages) continue;
              std::array<std::int32_t, 16> arguments{};
              arguments[0] = sent[to];
              arguments[15] = static_cast<std::int32_t>(to);
              write_pattern(payload.data(), size, self * 100 + to);
              if (try_send(*job.conduits[self], header_to(to, Category::medium, 16), arguments, payload) ==
                  Status::ok) {
                ++sent[to];
                --left;
                moved = true;
              }
            }
            if (job.conduits[self]->poll(sink, 4, PollFilter::everything) != 0) moved = true;
            if (!moved) host.idle(kNever);
          }
          ends[self] = host.now().ps;
          // Others still need what this one owes them.
          while (host.now().ps < 1'000'000'000) {
            if (job.conduits[self]->poll(sink, 4, PollFilter::everything) == 0) host.idle({1'000'000'000});
          }
        });
      }
      job.engine.run();
      for (unsigned self = 0; self < kRanks; ++self) CHECK(job.port(self).counters().velo_dropped == 0);
      if (strict) CHECK(ends == clocks);
      clocks = ends;
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::extoll

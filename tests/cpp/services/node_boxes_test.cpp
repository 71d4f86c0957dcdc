// Parcels between ranks of one node. Prices: a line stored 20 ns, loaded 100 ns, a missed poll 10 ns.
#include "gasmeter/services/node_boxes.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "gasmeter/services/node_ams.hpp"
#include "support/conduit_calls.hpp"
#include "support/effort.hpp"

namespace gasmeter::services::node_boxes_test {
namespace {

using conduit::Category;
using conduit::PollFilter;
using conduit::PrivatePrice;
using conduit::SharedPrice;
using gasmeter::testing::header_to;
using gasmeter::testing::Sink;

sim::EngineOptions options_for(unsigned ranks, unsigned nodes, bool strict = false, unsigned threads = 1) {
  sim::EngineOptions options;
  options.ranks = ranks;
  options.nodes = nodes;
  options.strict = strict;
  options.threads = threads;
  options.prices[PrivatePrice::call].fixed = {1'000};
  options.prices[PrivatePrice::poll_miss].fixed = {10'000};
  options.prices[SharedPrice::line_store].fixed = {20'000};
  options.prices[SharedPrice::line_transfer].fixed = {100'000};
  return options;
}

struct Parcel {
  std::uint32_t source = 0;
  std::uint32_t number = 0;
  bool operator==(const Parcel&) const = default;
};
using Boxes = NodeBoxes<Parcel>;

Parcel wait_for_parcel(Boxes& boxes, sim::ModelHost host) {
  for (;;) {
    if (const std::optional<Parcel> parcel = boxes.take(host)) return *parcel;
    host.idle(kNever);
  }
}

TEST_CASE("a_parcel_costs_a_line_stored_and_a_line_loaded") {
  for (const bool strict : {false, true}) {
    CAPTURE(strict);
    sim::Engine engine(options_for(2, 1, strict));
    Boxes boxes(2);
    engine.start(Rank{0}, [&] {
      sim::ModelHost host = engine.host(Rank{0});
      CHECK(are_node_mates(host, Rank{1}));
      CHECK_FALSE(are_node_mates(host, Rank{2}));
      REQUIRE(boxes.reserve(host, Rank{1}));
      CHECK(host.now().ps == 0);
      boxes.leave(host, Rank{1}, {0, 7});
      CHECK(host.now().ps == 20'000);
    });
    engine.start(Rank{1}, [&] {
      sim::ModelHost host = engine.host(Rank{1});
      CHECK(wait_for_parcel(boxes, host).number == 7);
      CHECK(host.now().ps == 120'000);
      CHECK_FALSE(boxes.take(host));
      CHECK(host.now().ps == 120'000);
    });
    engine.run();
  }
}

TEST_CASE("a_full_box_refuses_and_tells_of_the_slot_that_is_free_again") {
  for (const bool strict : {false, true}) {
    CAPTURE(strict);
    sim::Engine engine(options_for(2, 1, strict));
    Boxes boxes(2, 2);
    engine.start(Rank{0}, [&] {
      sim::ModelHost host = engine.host(Rank{0});
      REQUIRE(boxes.reserve(host, Rank{1}));
      boxes.leave(host, Rank{1}, {0, 1});
      REQUIRE(boxes.reserve(host, Rank{1}));
      CHECK_FALSE(boxes.reserve(host, Rank{1}));  // one parcel lies in the box, one slot is reserved
      boxes.cancel(host, Rank{1});
      REQUIRE(boxes.reserve(host, Rank{1}));
      boxes.leave(host, Rank{1}, {0, 2});
      CHECK(host.now().ps == 40'000);
      CHECK_FALSE(boxes.reserve(host, Rank{1}));
      CHECK(host.now().ps == 40'000);
      host.idle(kNever);  // woken for the slot cancelled above
      while (!boxes.reserve(host, Rank{1})) host.idle(kNever);
      boxes.leave(host, Rank{1}, {0, 3});
      CHECK(host.now().ps == 1'020'000);
    });
    engine.start(Rank{1}, [&] {
      sim::ModelHost host = engine.host(Rank{1});
      while (host.now().ps < 1'000'000) host.charge(PrivatePrice::call);
      for (const std::uint32_t number : {1U, 2U, 3U}) CHECK(wait_for_parcel(boxes, host).number == number);
      CHECK(host.now().ps == 1'300'000);
    });
    engine.run();
  }
}

// Parcels that every rank took, in order, and when it had all.
struct Outcome {
  std::vector<std::vector<Parcel>> taken;
  std::vector<SimTime> ends;
  bool operator==(const Outcome&) const = default;
};

constexpr unsigned kRanks = 9;
constexpr unsigned kOfNode = 3;
constexpr std::uint32_t kToEach = 13;
constexpr std::uint32_t kOfEach = kToEach * kOfNode;

// Every rank leaves the same number of parcels for each rank of its node, itself included, in turn. The order in which
// it leaves, takes, computes and cancels is random.
Outcome random_program(std::uint32_t seed, bool strict, unsigned threads) {
  sim::Engine engine(options_for(kRanks, kRanks / kOfNode, strict, threads));
  engine.promise_lookahead({1'000'000});
  Boxes boxes(kRanks, 1 + seed % 4);
  Outcome outcome{std::vector<std::vector<Parcel>>(kRanks), std::vector<SimTime>(kRanks)};
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    engine.start(Rank{rank}, [&, rank] {
      sim::ModelHost host = engine.host(Rank{rank});
      std::mt19937 random(seed * kRanks + rank);
      const std::uint32_t first = rank / kOfNode * kOfNode;
      std::vector<Parcel>& taken = outcome.taken[rank];
      std::uint32_t left = 0;
      while (left != kOfEach || taken.size() != kOfEach) {
        bool idle = true;
        const Rank to{first + (rank + left) % kOfNode};
        if (left != kOfEach && boxes.reserve(host, to)) {
          idle = false;
          for (std::uint64_t i = random() % 200; i != 0; --i) host.charge(PrivatePrice::call);
          if (random() % 4 == 0) {
            boxes.cancel(host, to);
          } else {
            boxes.leave(host, to, {rank, left++ / kOfNode});
          }
        }
        if (idle || random() % 2 == 0) {
          if (const std::optional<Parcel> parcel = boxes.take(host)) {
            taken.push_back(*parcel);
            idle = false;
          }
        }
        if (idle) host.idle(kNever);
      }
      outcome.ends[rank] = host.now();
    });
  }
  engine.run();  // throws if a rank waits for ever
  return outcome;
}

TEST_CASE("every_parcel_is_taken_once_in_the_order_of_its_sender_at_the_same_times_always") {
  for (std::uint32_t seed = 0; seed < gasmeter::testing::rounds(40); ++seed) {
    CAPTURE(seed);
    const Outcome outcome = random_program(seed, false, 1);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      std::array<std::uint32_t, kRanks> expected{};
      for (const Parcel& parcel : outcome.taken[rank]) CHECK(parcel.number == expected[parcel.source]++);
      for (std::uint32_t mate = 0; mate < kOfNode; ++mate) {
        CHECK(expected[rank / kOfNode * kOfNode + mate] == kToEach);
      }
    }
    CHECK(random_program(seed, true, 1) == outcome);
    CHECK(random_program(seed, false, 1 + seed % 3) == outcome);
  }
}

// ---- active messages

TEST_CASE("requests_wait_without_a_slot_while_only_replies_are_wanted") {
  sim::Engine engine(options_for(2, 1));
  AmBoxes boxes(2, 2);
  NodeAms sender(&boxes, engine.host(Rank{0}));
  NodeAms receiver(&boxes, engine.host(Rank{1}));
  const auto send = [&](std::int32_t number, bool is_reply) {
    conduit::AmBuffer buffer;
    if (sender.prepare(header_to(1, Category::short_message, 1, is_reply), 0, buffer) != Status::ok) return false;
    const std::array<std::int32_t, 1> arguments{number};
    CHECK(sender.commit(buffer, {HandlerIndex{7}, 0, nullptr, arguments}) == Status::ok);
    return true;
  };
  engine.start(Rank{0}, [&] {
    CHECK(send(1, false));
    CHECK(send(2, false));
    while (!send(3, true)) engine.host(Rank{0}).idle(kNever);
    while (!send(4, false)) engine.host(Rank{0}).idle(kNever);
  });
  engine.start(Rank{1}, [&] {
    std::vector<std::int32_t> numbers;
    Sink sink([&](const conduit::AmView& message) { numbers.push_back(message.arguments[0]); });
    while (numbers.empty()) {
      if (receiver.poll(sink, 16, PollFilter::replies_only) == 0) engine.host(Rank{1}).idle(kNever);
    }
    CHECK(numbers == std::vector<std::int32_t>{3});
    while (numbers.size() != 4) {
      if (receiver.poll(sink, 1, PollFilter::everything) == 0) engine.host(Rank{1}).idle(kNever);
    }
    CHECK(numbers == std::vector<std::int32_t>{3, 1, 2, 4});
  });
  engine.run();
}

TEST_CASE("what_is_prepared_keeps_its_slot_until_it_is_sent_or_cancelled") {
  sim::Engine engine(options_for(2, 1));
  AmBoxes boxes(2, 2);
  NodeAms sender(&boxes, engine.host(Rank{0}));
  engine.start(Rank{0}, [&] {
    for (int round = 0; round < 3; ++round) {
      std::array<conduit::AmBuffer, 3> buffers;
      CHECK(sender.prepare(header_to(1, Category::medium), 100, buffers[0]) == Status::ok);
      CHECK(sender.prepare(header_to(1, Category::long_message), 100, buffers[1]) == Status::ok);
      CHECK(sender.prepare(header_to(1, Category::short_message), 0, buffers[2]) == Status::no_resource);
      CHECK(buffers[0].size == 100);
      CHECK(buffers[0].data != buffers[1].data);
      CHECK(reinterpret_cast<std::uintptr_t>(buffers[0].data) % alignof(std::max_align_t) == 0);
      sender.cancel(buffers[1]);
      CHECK(sender.prepare(header_to(1, Category::short_message), 0, buffers[2]) == Status::ok);
      sender.cancel(buffers[0]);
      sender.cancel(buffers[2]);
    }
    CHECK(engine.host(Rank{0}).now().ps == 0);
  });
  engine.run();
}

}  // namespace
}  // namespace gasmeter::services::node_boxes_test

// Golden times: tests/golden/ideal.md has the sums.
#include "gasmeter/networks/ideal/ideal_conduit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/fault_injection.hpp"

namespace gasmeter::networks::ideal::ideal_conduit_test {
namespace {

using conduit::AmBuffer;
using conduit::AmHeader;
using conduit::AmView;
using conduit::Category;
using conduit::OperationId;
using conduit::PollFilter;

// Job whose ranks hold a conduit each.
struct Job {
  explicit Job(unsigned ranks, bool strict = false, const IdealParameters& parameters = {},
               const IdealOptions& ways = {})
      : Job(options(ranks, strict), parameters, ways, nullptr) {}
  // All ranks are on one node, and memory carries their messages.
  Job(unsigned ranks, bool strict, services::AmBoxes& near) : Job(options(ranks, strict, 1), {}, {}, &near) {}
  Job(const sim::EngineOptions& of, const IdealParameters& parameters, const IdealOptions& ways,
      services::AmBoxes* near)
      : engine(of), network(engine, parameters) {
    for (unsigned i = 0; i < of.ranks; ++i) {
      conduits.push_back(std::make_unique<IdealConduit>(network, engine.host(Rank{i}), Rank{i}, ways, near));
    }
  }
  static sim::EngineOptions options(unsigned ranks, bool strict, unsigned nodes = 0) {
    sim::EngineOptions result;
    result.ranks = ranks;
    result.nodes = nodes != 0 ? nodes : ranks;
    result.prices = ideal_prices();
    result.strict = strict;
    return result;
  }
  sim::Engine engine;
  IdealNetwork network;
  std::vector<std::unique_ptr<IdealConduit>> conduits;
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
  const conduit::AmCommit message{HandlerIndex{7}, payload.size(), destination, arguments};
  const Status sent = conduit.commit(buffer, message, conduit::kNoOperation);
  if (sent != Status::ok) conduit.cancel(buffer);
  return sent;
}

std::array<std::byte, 100> hundred_bytes() {
  std::array<std::byte, 100> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 3);
  return bytes;
}

TEST_CASE("short_round_trip_has_its_golden_time") {
  Job job(2);
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.engine.host(Rank{0});
    CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    CHECK(host.now().ps == 220'000);
    Sink sink([&](const AmView& message) { CHECK_FALSE(message.is_request); });
    wait(*job.conduits[0], host, sink, [&] { return sink.messages == 1; });
    CHECK(host.now().ps == 2'880'000);
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.engine.host(Rank{1});
    Sink sink([&](const AmView& message) {
      CHECK(host.now().ps == 1'440'000);
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

TEST_CASE("medium_carries_payload_and_arguments_in_its_golden_time") {
  Job job(2);
  const std::array<std::byte, 100> payload = hundred_bytes();
  job.engine.start(Rank{0}, [&] {
    const std::array<std::int32_t, 1> arguments{-5};
    CHECK(try_send(*job.conduits[0], header_to(1, Category::medium, 1), arguments, payload) == Status::ok);
    CHECK(job.engine.host(Rank{0}).now().ps == 240'000);
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.engine.host(Rank{1});
    Sink sink([&](const AmView& message) {
      CHECK(host.now().ps == 1'580'000);
      CHECK(message.category == Category::medium);
      REQUIRE(message.arguments.size() == 1);
      CHECK(message.arguments[0] == -5);
      REQUIRE(message.size == payload.size());
      CHECK(reinterpret_cast<std::uintptr_t>(message.payload) % alignof(std::max_align_t) == 0);
      CHECK(std::memcmp(message.payload, payload.data(), payload.size()) == 0);
    });
    wait(*job.conduits[1], host, sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
}

TEST_CASE("long_writes_its_destination_in_its_golden_time") {
  Job job(2);
  const std::array<std::byte, 100> payload = hundred_bytes();
  std::array<std::byte, 100> segment{};
  job.engine.start(Rank{0}, [&] {
    CHECK(try_send(*job.conduits[0], header_to(1, Category::long_message), {}, payload, segment.data()) == Status::ok);
    CHECK(job.engine.host(Rank{0}).now().ps == 240'000);
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.engine.host(Rank{1});
    Sink sink([&](const AmView& message) {
      CHECK(host.now().ps == 1'580'000);
      CHECK(message.payload == segment.data());
      CHECK(segment == payload);
    });
    wait(*job.conduits[1], host, sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
}

TEST_CASE("largest_message_with_most_arguments_fits") {
  Job job(2);
  std::vector<std::byte> payload(job.conduits[0]->capabilities().max_request_medium, std::byte{9});
  std::array<std::int32_t, 16> arguments{};
  for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i] = static_cast<std::int32_t>(i) - 8;
  job.engine.start(Rank{0}, [&] {
    CHECK(try_send(*job.conduits[0], header_to(1, Category::medium, 16), arguments, payload) == Status::ok);
    AmBuffer buffer;
    CHECK_THROWS_AS(
        (void)job.conduits[0]->prepare(header_to(1, Category::medium), nullptr, payload.size() + 1, 9999, buffer),
        UsageError);
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([&](const AmView& message) {
      CHECK(message.size == payload.size());
      CHECK(std::memcmp(message.payload, payload.data(), payload.size()) == 0);
      CHECK(std::memcmp(message.arguments.data(), arguments.data(), sizeof arguments) == 0);
    });
    wait(*job.conduits[1], job.engine.host(Rank{1}), sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
}

// Small packets hold 160 bytes: a header of 16, arguments, and the payload at an aligned offset.
TEST_CASE("packets_are_taken_for_all_that_is_written_into_them") {
  const auto is_small = [](auto&& use) {
    Job job(2);
    job.engine.start(Rank{0}, [&] {
      use(*job.conduits[0]);
      job.engine.host(Rank{0}).idle({1'000'000'000});  // until the packet has come back
    });
    job.engine.run();
    PacketPool& packets = job.network.packets();
    REQUIRE(packets.made() == 1);
    const PacketHandle again = packets.make(1);
    return packets.made() == 1;
  };
  const auto prepared = [&](Category category, unsigned arguments, Bytes payload) {
    return is_small([&](conduit::Conduit& conduit) {
      AmBuffer buffer;
      CHECK(conduit.prepare(header_to(1, category, arguments), nullptr, payload, payload, buffer) == Status::ok);
      conduit.cancel(buffer);
    });
  };
  for (const Category category : {Category::medium, Category::long_message}) {
    CAPTURE(category);
    for (const auto& message : {std::pair{0U, Bytes{144}}, {1U, Bytes{128}}, {16U, Bytes{80}}}) {
      const unsigned arguments = message.first;  // no structured binding: CAPTURE makes a lambda of them
      const Bytes most = message.second;
      CAPTURE(arguments);
      CHECK(prepared(category, arguments, most));
      CHECK_FALSE(prepared(category, arguments, most + 1));
    }
  }
  CHECK(prepared(Category::short_message, 16, 0));
  std::array<std::byte, 161> from{};
  std::array<std::byte, 161> to{};
  const auto put = [&](Bytes bytes) {
    return is_small([&](conduit::Conduit& conduit) {
      CHECK(conduit.put(Rank{1}, to.data(), from.data(), bytes, conduit::kNoOperation, conduit::kAtReturn) ==
            Status::ok);
    });
  };
  CHECK(put(160));
  CHECK_FALSE(put(161));
}

TEST_CASE("negotiated_payload_is_written_in_place_and_may_be_shorter") {
  Job job(2);
  job.engine.start(Rank{0}, [&] {
    AmBuffer buffer;
    CHECK(job.conduits[0]->prepare(header_to(1, Category::medium), nullptr, 8, 1'000'000, buffer) == Status::ok);
    CHECK(buffer.size == job.conduits[0]->capabilities().max_request_medium);
    std::memset(buffer.data, 0x5a, 24);
    CHECK(job.conduits[0]->commit(buffer, {HandlerIndex{7}, 24, nullptr, {}}, OperationId{3}) == Status::ok);
    Sink sink;
    CHECK(job.conduits[0]->poll(sink, 1, PollFilter::everything) == 1);
    CHECK((sink.done == std::vector<OperationId>{OperationId{3}}));
  });
  job.engine.start(Rank{1}, [&] {
    Sink sink([](const AmView& message) {
      CHECK(message.size == 24);
      CHECK(static_cast<const unsigned char*>(message.payload)[23] == 0x5a);
    });
    wait(*job.conduits[1], job.engine.host(Rank{1}), sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
}

TEST_CASE("cancelled_message_gives_its_slot_back") {
  Job job(1, false, {.send_slots = 1, .reply_slots = 0});
  job.engine.start(Rank{0}, [&] {
    for (int i = 0; i < 100; ++i) {
      AmBuffer buffer;
      AmBuffer second;
      CHECK(job.conduits[0]->prepare(header_to(0, Category::medium), nullptr, 8, 8, buffer) == Status::ok);
      CHECK(job.conduits[0]->prepare(header_to(0, Category::medium), nullptr, 8, 8, second) == Status::no_resource);
      job.conduits[0]->cancel(buffer);
    }
  });
  job.engine.run();
  CHECK(job.network.packets().made() == 1);
}

TEST_CASE("requests_leave_slots_for_replies") {
  Job job(2, false, {.gap = {1'000'000'000}});
  job.engine.start(Rank{0}, [&] {
    unsigned requests = 0;
    while (try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok) ++requests;
    CHECK(requests == 13);  // the first has left at once, 12 slots hold the others
    unsigned replies = 0;
    while (try_send(*job.conduits[0], header_to(1, Category::short_message, 0, true)) == Status::ok) ++replies;
    CHECK(replies == 4);
  });
  job.engine.run();
}

TEST_CASE("replies_only_leaves_requests_in_order_for_later") {
  Job job(2);
  job.engine.start(Rank{0}, [&] {
    for (std::int32_t i = 0; i < 6; ++i) {
      const std::array<std::int32_t, 1> arguments{i};
      CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message, 1, i % 3 == 2), arguments) == Status::ok);
    }
  });
  job.engine.start(Rank{1}, [&] {
    sim::ModelHost host = job.engine.host(Rank{1});
    std::vector<std::int32_t> order;
    Sink sink([&](const AmView& message) { order.push_back(message.arguments[0]); });
    host.idle({100'000'000});
    while (job.network.nic(Rank{1}).counters().deepest_queue < 6) host.idle({100'000'000});
    CHECK(job.conduits[1]->poll(sink, 1, PollFilter::replies_only) == 1);
    CHECK(job.conduits[1]->poll(sink, 16, PollFilter::replies_only) == 1);
    CHECK(job.conduits[1]->poll(sink, 16, PollFilter::replies_only) == 0);
    CHECK(job.conduits[1]->poll(sink, 3, PollFilter::everything) == 3);
    CHECK(job.conduits[1]->poll(sink, 3, PollFilter::everything) == 1);
    CHECK((order == std::vector<std::int32_t>{2, 5, 0, 1, 3, 4}));
  });
  job.engine.run();
}

// Result of a job whose ranks send requests to random peers. Every request is answered. Later messages depend on
// earlier arrivals.
struct Outcome {
  std::vector<std::int64_t> clocks;
  std::vector<std::uint64_t> hashes;
  bool operator==(const Outcome&) const = default;
};

Outcome exchange(unsigned ranks, std::uint64_t seed, bool strict, const conduit::FaultPlan& plan) {
  Job job(ranks, strict, {.gap = {150'000}, .send_slots = 3, .reply_slots = 1});
  Outcome outcome{std::vector<std::int64_t>(ranks), std::vector<std::uint64_t>(ranks, seed)};
  constexpr unsigned kRequests = 30;
  unsigned finished = 0;
  for (std::uint32_t self = 0; self < ranks; ++self) {
    job.engine.start(Rank{self}, [&, self] {
      sim::ModelHost host = job.engine.host(Rank{self});
      conduit::FaultInjectingConduit conduit(*job.conduits[self], plan);
      std::mt19937_64 random(seed * 100 + self);
      std::vector<Rank> owed;
      unsigned answered = 0;
      Sink sink([&](const AmView& message) {
        outcome.hashes[self] = outcome.hashes[self] * 31 + static_cast<std::uint64_t>(message.arguments[0]) +
                               static_cast<std::uint64_t>(host.now().ps) + message.size;
        if (message.is_request) {
          owed.push_back(message.source);
        } else {
          ++answered;
        }
      });
      const auto send = [&](unsigned peer, bool is_reply) {
        const std::array<std::int32_t, 1> arguments{static_cast<std::int32_t>(outcome.hashes[self] & 0xffff)};
        const std::vector<std::byte> payload(outcome.hashes[self] % 200);
        return try_send(conduit, header_to(peer, Category::medium, 1, is_reply), arguments, payload) == Status::ok;
      };
      unsigned sent = 0;
      bool said_so = false;
      while (finished != ranks) {
        const unsigned peer = static_cast<unsigned>(random() % ranks);
        bool moved = false;
        if (!owed.empty() && send(index(owed.back()), true)) {
          owed.pop_back();
          moved = true;
        }
        if (sent < kRequests && send(peer, false)) {
          ++sent;
          moved = true;
        }
        if (conduit.poll(sink, 2, PollFilter::everything) != 0) moved = true;
        host.synchronise();
        if (!said_so && answered == kRequests) {
          said_so = true;
          ++finished;
        }
        if (!moved) host.idle(std::min(conduit.next_deadline(), host.now() + SimTime{5'000'000}));
        host.synchronise();
      }
      CHECK(conduit.counters().outstanding() == 0);
      outcome.clocks[self] = host.now().ps;
    });
  }
  job.engine.run();
  return outcome;
}

TEST_CASE("exchanges_give_the_same_lazily_and_strictly_with_and_without_faults") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const unsigned ranks : {2U, 5U}) {
      for (const auto& plan : {conduit::FaultPlan::none(), conduit::FaultPlan::every(3),
                               conduit::FaultPlan::random(0.4, seed), conduit::FaultPlan::once(seed)}) {
        const Outcome lazy = exchange(ranks, seed, false, plan);
        CHECK((lazy == exchange(ranks, seed, true, plan)));
        CHECK((lazy == exchange(ranks, seed, false, plan)));
      }
    }
  }
}

// ---- puts by the NIC

struct PutTimes {
  std::int64_t returned = 0;
  std::int64_t leaf = 0;  // 0: not asked for
  std::int64_t root = 0;
  bool operator==(const PutTimes&) const = default;
};

// Put from rank 0 to rank 1, which does not poll, behind `before` puts of 8 bytes. The source is overwritten as soon as
// it is free.
PutTimes times_of_put(Bytes bytes, OperationId local, unsigned before = 0, bool strict = false) {
  Job job(2, strict, {}, {.native_puts = true});
  std::vector<std::byte> target(bytes + 8);
  std::vector<std::byte> source(bytes);
  PutTimes times;
  job.engine.start(Rank{0}, [&] {
    sim::ModelHost host = job.engine.host(Rank{0});
    IdealConduit& conduit = *job.conduits[0];
    const std::uint64_t word = 0;
    for (unsigned i = 0; i < before; ++i) {
      CHECK(conduit.put(Rank{1}, &target[bytes], &word, 8, conduit::kNoOperation, conduit::kNoOperation) == Status::ok);
    }
    std::fill(source.begin(), source.end(), std::byte{7});
    CHECK(conduit.put(Rank{1}, target.data(), source.data(), bytes, OperationId{1}, local) == Status::ok);
    times.returned = host.now().ps;
    Sink sink;
    const auto wait = [&](std::size_t completions) {
      while (sink.done.size() < completions) {
        if (conduit.poll(sink, 16, PollFilter::everything) == 0) host.idle(kNever);
      }
      return host.now().ps;
    };
    const bool asked = local == OperationId{2};
    if (asked) times.leaf = wait(1);
    if (asked || local == conduit::kAtReturn) std::fill(source.begin(), source.end(), std::byte{0xff});
    times.root = wait(asked ? 2 : 1);
    CHECK(sink.done.back() == OperationId{1});
  });
  job.engine.run();
  CHECK(std::all_of(target.begin(), target.begin() + static_cast<std::ptrdiff_t>(bytes),
                    [](std::byte byte) { return byte == std::byte{7}; }));
  return times;
}

TEST_CASE("ideal_native_put_is_complete_at_either_side_in_its_golden_time") {
  CHECK(times_of_put(8, conduit::kNoOperation) == PutTimes{200'000, 0, 2'330'000});
  CHECK(times_of_put(8, OperationId{2}) == PutTimes{200'000, 330'000, 2'330'000});
  CHECK(times_of_put(100, conduit::kAtReturn) == PutTimes{220'000, 0, 2'440'000});
  CHECK(times_of_put(100, OperationId{2}, 2) == PutTimes{600'000, 1'070'000, 3'070'000});
  CHECK(times_of_put(100, OperationId{2}, 2, true) == times_of_put(100, OperationId{2}, 2));
}

// ---- messages between ranks of a node, through its memory

TEST_CASE("short_round_trip_by_node_memory_has_its_golden_time") {
  for (const bool strict : {false, true}) {
    CAPTURE(strict);
    services::AmBoxes boxes(2);
    Job job(2, strict, boxes);
    job.engine.start(Rank{0}, [&] {
      sim::ModelHost host = job.engine.host(Rank{0});
      CHECK(try_send(*job.conduits[0], header_to(1, Category::short_message)) == Status::ok);
      CHECK(host.now().ps == 40'000);
      Sink sink([&](const AmView& message) { CHECK_FALSE(message.is_request); });
      wait(*job.conduits[0], host, sink, [&] { return sink.messages == 1; });
      CHECK(host.now().ps == 280'000);
    });
    job.engine.start(Rank{1}, [&] {
      sim::ModelHost host = job.engine.host(Rank{1});
      Sink sink([&](const AmView& message) {
        CHECK(host.now().ps == 140'000);
        CHECK(message.source == Rank{0});
        CHECK(message.handler == HandlerIndex{7});
        CHECK(try_send(*job.conduits[1], header_to(0, Category::short_message, 0, true)) == Status::ok);
      });
      wait(*job.conduits[1], host, sink, [&] { return sink.messages == 1; });
    });
    job.engine.run();
    CHECK(job.network.nic(Rank{0}).counters().sent == 0);
  }
}

TEST_CASE("payloads_by_node_memory_arrive_in_their_golden_time") {
  for (const Category category : {Category::medium, Category::long_message}) {
    const bool is_long = category == Category::long_message;
    CAPTURE(is_long);
    services::AmBoxes boxes(2);
    Job job(2, false, boxes);
    const std::array<std::byte, 100> payload = hundred_bytes();
    std::array<std::byte, 100> target{};
    job.engine.start(Rank{0}, [&] {
      sim::ModelHost host = job.engine.host(Rank{0});
      AmBuffer buffer;
      REQUIRE(job.conduits[0]->prepare(header_to(1, category, 1), nullptr, 1, 4096, buffer) == Status::ok);
      CHECK(buffer.size == 4096);
      host.copy(buffer.data, payload.data(), payload.size());  // as core does
      const std::array<std::int32_t, 1> arguments{-5};
      CHECK(job.conduits[0]->commit(buffer, {HandlerIndex{7}, payload.size(), target.data(), arguments},
                                    OperationId{3}) == Status::ok);
      CHECK(host.now().ps == (is_long ? 80'000 : 60'000));
      Sink sink;
      CHECK(job.conduits[0]->poll(sink, 16, PollFilter::everything) == 1);
      CHECK(sink.done == std::vector<OperationId>{OperationId{3}});
    });
    job.engine.start(Rank{1}, [&] {
      sim::ModelHost host = job.engine.host(Rank{1});
      Sink sink([&](const AmView& message) {
        CHECK(host.now().ps == (is_long ? 180'000 : 160'000));
        CHECK(message.category == category);
        REQUIRE(message.arguments.size() == 1);
        CHECK(message.arguments[0] == -5);
        REQUIRE(message.size == payload.size());
        CHECK((message.payload == target.data()) == is_long);
        CHECK(std::memcmp(message.payload, payload.data(), payload.size()) == 0);
      });
      wait(*job.conduits[1], host, sink, [&] { return sink.messages == 1; });
    });
    job.engine.run();
  }
}

TEST_CASE("send_slots_what_waits_and_a_box_are_reserved") {
  Job alone(2);
  CHECK(alone.conduits[0]->reserved_bytes() == 16 * 4224);
  services::AmBoxes boxes(2);
  Job near(2, false, boxes);
  CHECK(near.conduits[0]->reserved_bytes() == 16 * 4224 + 64 * 64);
  alone.engine.start(Rank{0}, [&] {
    for (int i = 0; i < 3; ++i) {
      CHECK(try_send(*alone.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    }
  });
  alone.engine.start(Rank{1}, [&] {
    const auto reserved = [&] { return alone.conduits[1]->reserved_bytes(); };
    sim::ModelHost host = alone.engine.host(Rank{1});
    while (host.now().ps < 10'000'000) host.idle(SimTime{10'000'000});
    CHECK(reserved() == (16 + 3) * 4224);
    Sink sink;
    CHECK(alone.conduits[1]->poll(sink, 16, PollFilter::replies_only) == 0);
    CHECK(reserved() == (16 + 3) * 4224);  // laid aside
    CHECK(alone.conduits[1]->poll(sink, 16, PollFilter::everything) == 3);
    CHECK(reserved() == 16 * 4224);
  });
  alone.engine.run();
}

}  // namespace
}  // namespace gasmeter::networks::ideal::ideal_conduit_test

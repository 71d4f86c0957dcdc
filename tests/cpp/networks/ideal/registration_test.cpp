// Registered memory on the toy network: golden times, whose sums are in tests/golden/ideal.md, and the conduit's
// contract.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/fault_injection.hpp"
#include "gasmeter/networks/ideal/ideal_conduit.hpp"

namespace gasmeter::networks::ideal::registration_test {
namespace {

using conduit::Category;
using conduit::Pin;
using conduit::PinLimits;

// Rank that sends to itself and does not poll.
struct Sender {
  explicit Sender(const std::optional<PinLimits>& pins, bool strict = false)
      : engine(options(strict)),
        network(engine, {}),
        conduit(network, engine.host(Rank{0}), Rank{0}, IdealOptions{.pins = pins}) {
    conduit.attach(segment);
  }
  static sim::EngineOptions options(bool strict) {
    sim::EngineOptions result;
    result.ranks = 1;
    result.nodes = 1;
    result.prices = ideal_prices();
    result.strict = strict;
    return result;
  }
  template <class Body>
  void run(Body body) {
    engine.start(Rank{0}, body);
    engine.run();
  }
  [[nodiscard]] std::int64_t now() { return engine.host(Rank{0}).now().ps; }
  Status send(std::span<const std::byte> payload) {
    conduit::AmBuffer buffer;
    const Status prepared = conduit.prepare({Rank{0}, Category::medium, false, 1, 0}, payload.data(), payload.size(),
                                            payload.size(), buffer);
    if (prepared != Status::ok) return prepared;
    const std::array<std::int32_t, 1> arguments{7};
    const Status sent =
        conduit.commit(buffer, {HandlerIndex{7}, payload.size(), nullptr, arguments}, conduit::kNoOperation);
    if (sent != Status::ok) conduit.cancel(buffer);
    return sent;
  }

  std::array<std::byte, 200> segment{};
  sim::Engine engine;
  IdealNetwork network;
  IdealConduit conduit;
};

TEST_CASE("memory_is_registered_once_and_goes_when_the_room_is_needed") {
  for (const bool strict : {false, true}) {
    CAPTURE(strict);
    Sender job(PinLimits{.pages = 2}, strict);
    const std::vector<std::byte> first(100);
    const std::vector<std::byte> second(100);
    const std::vector<std::byte> third(4'000);
    job.run([&] {
      CHECK(job.send(first) == Status::ok);
      CHECK(job.now() == 1'444'800);
      CHECK(job.send({first.data() + 50, 50}) == Status::ok);  // a hit
      CHECK(job.now() == 1'679'800);
      CHECK(job.send({job.segment.data(), 100}) == Status::ok);  // the segment is always registered
      CHECK(job.now() == 1'919'800);
      CHECK(job.send(second) == Status::ok);
      CHECK(job.now() == 3'364'600);
      CHECK(job.send(third) == Status::ok);  // replaces `first`
      CHECK(job.now() == 5'801'800);
      CHECK(job.send(second) == Status::ok);
      CHECK(job.now() == 6'041'800);
    });
  }
}

TEST_CASE("without_the_option_nothing_is_registered") {
  Sender job(std::nullopt);
  const std::vector<std::byte> payload(100);
  job.run([&] {
    CHECK(job.send(payload) == Status::ok);
    CHECK(job.now() == 240'000);
    Pin pinned{};
    CHECK(job.conduit.pin(job.segment, pinned) == Status::unsupported);
    CHECK_FALSE(job.conduit.capabilities().native_pin);
    CHECK_THROWS_WITH_AS(job.conduit.unpin(pinned),
                         "conduit: memory 0 is unpinned, but this network pins none; unpin what a pin() has named",
                         UsageError);
  });
}

TEST_CASE("what_is_pinned_stays_so_and_leaves_others_no_room") {
  Sender job(PinLimits{.pages = 2});
  std::vector<std::byte> kept(5'000);
  const std::vector<std::byte> payload(100);
  std::vector<std::byte> large(2 * conduit::kPageBytes + 1);
  job.run([&] {
    CHECK(job.conduit.capabilities().native_pin);
    CHECK(job.conduit.capabilities().pins.pages == 2);
    Pin pinned{};
    CHECK(job.conduit.pin(kept, pinned) == Status::ok);
    CHECK(job.now() == 1'000'000 + 2 * 204'800);
    CHECK(job.send(payload) == Status::no_resource);
    CHECK(job.now() == 1'000'000 + 2 * 204'800);
    CHECK(job.send({kept.data(), 100}) == Status::ok);
    job.conduit.unpin(pinned);
    CHECK(job.send(payload) == Status::ok);  // 2 pages are undone, 1 is registered
    CHECK(job.now() == 1'409'600 + 240'000 + 704'800 + 1'204'800 + 240'000);
    CHECK_THROWS_WITH_AS((void)job.conduit.pin(large, pinned),
                         "registration cache: 3 pages of 4096 B are to be pinned at once; the device holds at most 2: "
                         "transfer less at a time, or raise the limit",
                         UsageError);
  });
}

// New memory at a freed address does not count as registered, even behind a conduit that injects faults.
TEST_CASE("memory_that_was_freed_is_registered_anew") {
  Sender job(PinLimits{});
  conduit::FaultInjectingConduit outer(job.conduit, conduit::FaultPlan::none());
  const std::vector<std::byte> place(100);
  job.run([&] {
    CHECK(job.send(place) == Status::ok);
    CHECK(job.now() == 1'444'800);
    outer.forget({place.data() + 20, 10});
    CHECK(job.now() == 1'444'800 + 602'400);
    CHECK(job.send(place) == Status::ok);
    CHECK(job.now() == 2'047'200 + 1'444'800);
    outer.forget({place.data(), 0});
    outer.forget(job.segment);  // the segment stays registered
    CHECK(job.send(place) == Status::ok);
    CHECK(job.now() == 3'492'000 + 240'000);
  });
}

TEST_CASE("refusals_by_plan_pin_nothing") {
  Sender job(PinLimits{});
  conduit::FaultInjectingConduit faulty(job.conduit, conduit::FaultPlan::once(1));
  job.run([&] {
    Pin pinned{};
    CHECK(faulty.pin(job.segment, pinned) == Status::no_resource);
    CHECK(job.now() == 0);
    CHECK(faulty.pin(job.segment, pinned) == Status::ok);
    CHECK(job.now() == 1'204'800);
    faulty.unpin(pinned);
    CHECK(faulty.counters().injected == 1);
  });
}

}  // namespace
}  // namespace gasmeter::networks::ideal::registration_test

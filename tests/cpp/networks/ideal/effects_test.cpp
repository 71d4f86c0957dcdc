// Times that the toy network takes from its hosts by option. Golden times: tests/golden/taken_time.md has the sums.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/ideal/ideal_network.hpp"

namespace gasmeter::networks::ideal::effects_test {
namespace {

constexpr SimTime ns(std::int64_t time) {
  return {time * 1000};
}

struct Times {
  SimTime sent;  // the sender's core is done
  SimTime computed;
  SimTime taken;
};

// Let rank 0 send 8 bytes at once. Rank 1 computes and then waits for them.
Times receive(const IdealEffects& effects, SimTime work, bool strict) {
  sim::EngineOptions options;
  options.ranks = options.nodes = 2;
  options.prices = ideal_prices();
  options.strict = strict;
  sim::Engine engine(options);
  IdealNetwork network(engine, {}, effects);
  Times times;
  engine.start(Rank{0}, [&] {
    const std::array<std::byte, 8> bytes{};
    REQUIRE(network.nic(Rank{0}).try_send(Rank{1}, bytes) == Status::ok);
    times.sent = engine.host(Rank{0}).now();
  });
  engine.start(Rank{1}, [&] {
    sim::ModelHost host = engine.host(Rank{1});
    IdealNic& nic = network.nic(Rank{1});
    PacketHandle packet = network.packets().own(nullptr);
    for (SimTime left = work; left.ps != 0;) {
      left = host.work(left, effects.handlers_by_interrupt);
      if (left.ps != 0) packet = nic.take();
    }
    times.computed = host.now();
    while (!packet) {
      packet = nic.take();
      if (!packet) host.idle(kNever);
    }
    times.taken = host.now();
  });
  engine.run();
  return times;
}

TEST_CASE("each_effect_takes_what_the_sum_says") {
  IdealEffects interrupt;
  interrupt.interrupt = ns(500);
  IdealEffects other = interrupt;
  other.other_core = true;
  IdealEffects at_once = interrupt;
  at_once.handlers_by_interrupt = true;
  IdealEffects poll;
  poll.poll = ns(3);
  IdealEffects load;
  load.load = ns(150);
  IdealEffects behind;
  behind.check = ns(30);
  behind.flag = ns(11);
  IdealEffects scan;
  scan.scan = ns(40);
  for (const bool strict : {false, true}) {
    CAPTURE(strict);
    CHECK(receive({}, {}, strict).taken == ns(1410));
    CHECK(receive({}, {}, strict).sent == ns(200));
    CHECK(receive(behind, {}, strict).sent == ns(241));
    CHECK(receive(behind, {}, strict).taken == ns(1410));
    CHECK(receive(interrupt, {}, strict).taken == ns(1910));
    CHECK(receive(other, {}, strict).taken == ns(1910));
    CHECK(receive(poll, {}, strict).taken == ns(1409));
    CHECK(receive(load, {}, strict).taken == ns(1560));
    CHECK(receive(scan, {}, strict).taken == ns(1450));

    CHECK(receive({}, ns(2000), strict).computed == ns(2000));
    CHECK(receive(interrupt, ns(2000), strict).computed == ns(2500));
    CHECK(receive(interrupt, ns(2000), strict).taken == ns(2700));
    CHECK(receive(other, ns(2000), strict).computed == ns(2000));
    CHECK(receive(other, ns(2000), strict).taken == ns(2200));
    CHECK(receive(at_once, ns(2000), strict).computed == ns(2700));
  }
}

}  // namespace
}  // namespace gasmeter::networks::ideal::effects_test

// The way to an instant, step by step: tests/golden/ideal.md has the sums.
#include "gasmeter/sim/trace/tracer.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/ideal/ideal_network.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "sim/engine/prices.hpp"

namespace gasmeter::sim::tracer_test {
namespace {

using conduit::PrivatePrice;
using conduit::SharedPrice;
using networks::ideal::IdealNetwork;
using networks::ideal::PacketHandle;
using testing::options_for;

Stretch on_rank(Step step, std::int64_t begin_ns, std::int64_t end_ns, std::uint32_t rank, bool in_handler = false) {
  return {{begin_ns * 1000}, {end_ns * 1000}, step, in_handler, true, rank, rank};
}
Stretch on_wire(Step step, std::int64_t begin_ns, std::int64_t end_ns, std::uint32_t from, std::uint32_t to) {
  return {{begin_ns * 1000}, {end_ns * 1000}, step, false, false, from, to};
}

PacketHandle wait_for_packet(networks::ideal::IdealNic& nic, ModelHost& host) {
  for (;;) {
    if (PacketHandle packet = nic.take()) return packet;
    host.idle(kNever);
  }
}

struct Job {
  explicit Job(bool strict = false) : engine(options(strict)), network(engine) {
    engine.trace(&tracer);
    network.name_steps(tracer);
  }
  static EngineOptions options(bool strict) {
    EngineOptions engine_options;
    engine_options.ranks = engine_options.nodes = 2;
    engine_options.prices = networks::ideal::ideal_prices();
    engine_options.strict = strict;
    return engine_options;
  }
  Tracer tracer{2};
  Engine engine;
  IdealNetwork network;
};

// "One packet of 8 bytes": taken at 1410; then the same way back, met by the poll at 200 + 242 * 10.
TEST_CASE("a_packet_there_and_back_step_by_step") {
  for (const bool strict : {false, true}) {
    Job job(strict);
    const std::uint64_t word = 1;
    job.engine.start(Rank{0}, [&] {
      ModelHost host = job.engine.host(Rank{0});
      host.mark(Mark::begin);
      (void)job.network.nic(Rank{0}).try_send(Rank{1}, std::as_bytes(std::span(&word, 1)));
      (void)wait_for_packet(job.network.nic(Rank{0}), host);
      host.mark(Mark::end);
    });
    job.engine.start(Rank{1}, [&] {
      ModelHost host = job.engine.host(Rank{1});
      (void)wait_for_packet(job.network.nic(Rank{1}), host);
      (void)job.network.nic(Rank{1}).try_send(Rank{0}, std::as_bytes(std::span(&word, 1)));
    });
    job.engine.run();
    REQUIRE(job.tracer.operations(Rank{0}).size() == 1);
    const auto [begin, end] = job.tracer.operations(Rank{0}).front();
    CHECK(begin.ps == 0);
    const std::vector<Stretch> expected{on_rank(Step::doorbell, 0, 200, 0),     on_wire(Step::wire, 200, 1208, 0, 1),
                                        on_rank(Step::poll, 1208, 1210, 1),     on_rank(Step::poll, 1210, 1410, 1),
                                        on_rank(Step::doorbell, 1410, 1610, 1), on_wire(Step::wire, 1610, 2618, 1, 0),
                                        on_rank(Step::poll, 2618, 2620, 0),     on_rank(Step::poll, 2620, 2820, 0)};
    const std::vector<Stretch> way = job.tracer.way(Rank{0}, begin, end);
    CHECK(end.ps == 2'820'000);
    CHECK(way == expected);
  }
}

// "Four packets of 100 bytes": the fourth is posted at 800 and starts at 1400.
TEST_CASE("a_packet_that_waits_for_the_network_interface_queues") {
  Job job;
  const std::vector<std::byte> bytes(100);
  SimTime taken;
  job.engine.start(Rank{0}, [&] {
    for (int i = 0; i < 4; ++i) (void)job.network.nic(Rank{0}).try_send(Rank{1}, bytes);
  });
  job.engine.start(Rank{1}, [&] {
    ModelHost host = job.engine.host(Rank{1});
    for (int i = 0; i < 4; ++i) (void)wait_for_packet(job.network.nic(Rank{1}), host);
    taken = host.now();
  });
  job.engine.run();
  CHECK(taken.ps == 2'700'000);
  const std::vector<Stretch> way = job.tracer.way(Rank{1}, {600'000}, taken);
  const std::vector<Stretch> expected{on_rank(Step::doorbell, 600, 800, 0), on_wire(Step::queue, 800, 1400, 0, 1),
                                      on_wire(Step::wire, 1400, 2500, 0, 1), on_rank(Step::poll, 2500, 2700, 1)};
  CHECK(way == expected);
}

TEST_CASE("a_neighbour_that_notifies_is_followed") {
  Engine engine(options_for(2, 1));
  Tracer tracer(2);
  engine.trace(&tracer);
  engine.start(Rank{0}, [&] {
    ModelHost host = engine.host(Rank{0});
    host.charge(PrivatePrice::header_build);  // 7
    host.mark(Mark::handler_begin);
    host.charge(PrivatePrice::update);  // 10
    host.mark(Mark::handler_end);
    host.charge_shared(SharedPrice::line_store);  // 30
    host.notify(Rank{1});
  });
  engine.start(Rank{1}, [&] {
    ModelHost host = engine.host(Rank{1});
    host.charge(PrivatePrice::call);  // 1
    host.idle(kNever);                // 31
    host.charge(PrivatePrice::dispatch);
  });
  engine.run();
  const std::vector<Stretch> expected{on_rank(Step::header, 0, 7, 0), on_rank(Step::handler, 7, 10, 0, true),
                                      on_rank(Step::doorbell, 10, 30, 0), on_rank(Step::poll, 30, 31, 1),
                                      on_rank(Step::dispatch, 31, 36, 1)};
  CHECK(tracer.way(Rank{1}, {0}, {36'000}) == expected);
  // The first stretch is cut where the operation begins, wherever that is.
  CHECK(tracer.way(Rank{1}, {33'000}, {36'000}) == std::vector{on_rank(Step::dispatch, 33, 36, 1)});
}

TEST_CASE("a_deadline_is_a_timer") {
  Engine engine(options_for(1, 1));
  Tracer tracer(1);
  engine.trace(&tracer);
  engine.start(Rank{0}, [&] { engine.host(Rank{0}).idle({25'000}); });
  engine.run();
  CHECK(tracer.way(Rank{0}, {0}, {30'000}) == std::vector{on_rank(Step::timer, 0, 30, 0)});
}

TEST_CASE("tracing_changes_no_time_and_refuses_what_it_cannot_tell") {
  EngineOptions two = options_for(2, 2);
  two.threads = 2;
  Engine threads(two);
  Tracer tracer(2);
  CHECK_THROWS_AS(threads.trace(&tracer), UsageError);
  CHECK_THROWS_AS((void)tracer.way(Rank{0}, {2}, {1}), UsageError);
  CHECK_THROWS_AS((void)tracer.way(Rank{2}, {1}, {2}), UsageError);
  // Time that nobody has explained is called unknown.
  const std::vector<Stretch> way = tracer.way(Rank{0}, {0}, {1'000});
  REQUIRE(way.size() == 1);
  CHECK(way.front().step == Step::unknown);
  for (unsigned step = 0; step < static_cast<unsigned>(Step::count_); ++step) {
    CHECK(std::string(name_of(static_cast<Step>(step))).empty() == false);
  }
}

}  // namespace
}  // namespace gasmeter::sim::tracer_test

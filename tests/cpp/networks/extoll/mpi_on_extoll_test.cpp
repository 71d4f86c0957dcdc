// The mpi conduit over two-sided messages on EXTOLL cards. tests/golden/extoll.md derives the golden times.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "conduit_job.hpp"
#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/networks/extoll/extoll_messages.hpp"
#include "gasmeter/networks/mpi/ammpi_conduit.hpp"
#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "gasmeter/services/matched_messages.hpp"

namespace gasmeter::networks::extoll::mpi_on_extoll_test {
namespace {

using namespace testing;
using conduit::OperationId;

template <class C>
struct MessagesWorld : World {
  MessagesWorld(const services::MatchingParameters& matching, bool strict) : World({.strict = strict}, kRoomy) {
    for (unsigned i = 0; i < 2; ++i) {
      devices.push_back(std::make_unique<ExtollMessages>(port(i), host(i)));
      messages.push_back(std::make_unique<services::MatchedMessages>(host(i), *devices.back(), nullptr, matching));
    }
  }
  std::vector<std::unique_ptr<ExtollMessages>> devices;
  std::vector<std::unique_ptr<services::MatchedMessages>> messages;
  std::vector<std::unique_ptr<C>> conduits;
};

struct MpiWorld : MessagesWorld<mpi::MpiConduit<sim::ModelHost>> {
  explicit MpiWorld(const mpi::MpiSettings& settings = {}, const services::MatchingParameters& matching = {},
                    bool strict = false)
      : MessagesWorld(matching, strict) {
    for (unsigned i = 0; i < 2; ++i) {
      conduits.push_back(
          std::make_unique<mpi::MpiConduit<sim::ModelHost>>(host(i), *messages[i], Rank{i}, engine.ranks(), settings));
      conduits.back()->attach({static_cast<std::byte*>(nullptr), kMostBytes});
    }
  }
};

struct AmmpiWorld : MessagesWorld<mpi::AmmpiConduit<sim::ModelHost>> {
  AmmpiWorld() : MessagesWorld({}, false) {
    for (unsigned i = 0; i < 2; ++i) {
      conduits.push_back(std::make_unique<mpi::AmmpiConduit<sim::ModelHost>>(host(i), *messages[i], engine.ranks()));
    }
  }
};

template <class W>
void check_short_round_trip(std::int64_t answered) {
  W world;
  const gasmeter::testing::RoundTrip measured = gasmeter::testing::short_round_trip(world);
  CHECK(measured.sent == 194'000);
  CHECK(measured.handled == 1'123'600);
  CHECK(measured.replied == 1'317'600);
  CHECK(measured.answered == answered);
}

// An AMMPI head has 16 bytes, as a message with one record has. The reply's receive is the second of the list.
TEST_CASE("short_round_trips_on_extoll_have_their_golden_times") {
  check_short_round_trip<MpiWorld>(2'247'600);
  check_short_round_trip<AmmpiWorld>(2'249'600);
}

struct PutTimes {
  std::int64_t returned = 0;  // ps
  std::int64_t leaf = 0;
  std::int64_t root = 0;
  bool operator==(const PutTimes&) const = default;
};

// Put from rank 0 to rank 1, which polls from time 0 on. The source is overwritten as soon as it may be.
PutTimes times_of_put(MpiWorld& world, Bytes bytes) {
  std::vector<std::byte> source(bytes, std::byte{7});
  std::vector<std::byte> there(bytes);
  PutTimes times;
  const SimTime begin = world.host(0).now();
  const auto now = [&] { return (world.host(0).now() - begin).ps; };
  world.engine.start(Rank{0}, [&] {
    mpi::MpiConduit<sim::ModelHost>& conduit = *world.conduits[0];
    gasmeter::testing::Sink sink;
    CHECK(conduit.put(Rank{1}, there.data(), source.data(), bytes, OperationId{1}, OperationId{2}) == Status::ok);
    times.returned = now();
    gasmeter::testing::wait(conduit, world.host(0), sink, [&] { return sink.done.size() == 1; });
    times.leaf = now();
    std::fill(source.begin(), source.end(), std::byte{0xff});
    gasmeter::testing::wait(conduit, world.host(0), sink, [&] { return sink.done.size() == 2; });
    times.root = now();
    CHECK(sink.done == std::vector<OperationId>{OperationId{2}, OperationId{1}});
  });
  world.engine.start(Rank{1}, [&] {
    gasmeter::testing::Sink sink;
    gasmeter::testing::wait(*world.conduits[1], world.host(1), sink,
                            [&] { return world.conduits[1]->counters().messages == 1; });  // rank 1 has answered
  });
  world.engine.run();
  CHECK(std::all_of(there.begin(), there.end(), [](std::byte byte) { return byte == std::byte{7}; }));
  return times;
}

TEST_CASE("mpi_put_on_extoll_is_complete_at_either_side_in_its_golden_time") {
  for (const bool strict : {false, true}) {
    MpiWorld gathered({}, {}, strict);
    CHECK(times_of_put(gathered, 8) == PutTimes{204'800, 204'800, 2'318'400});
    MpiWorld apart({.apart_from = 100}, {.eager = 64}, strict);
    CHECK(times_of_put(apart, 100) == PutTimes{368'000, 3'182'000, 5'045'600});
  }
}

}  // namespace
}  // namespace gasmeter::networks::extoll::mpi_on_extoll_test

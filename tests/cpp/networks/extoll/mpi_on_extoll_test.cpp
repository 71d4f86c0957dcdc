// The mpi conduit over two-sided messages on EXTOLL cards. Golden times: tests/golden/extoll.md has the sums.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "conduit_job.hpp"
#include "gasmeter/networks/extoll/extoll_messages.hpp"
#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "gasmeter/services/matched_messages.hpp"

namespace gasmeter::networks::extoll {
namespace {

using namespace testing;
using conduit::AmView;
using conduit::Category;

struct MpiWorld : World {
  MpiWorld() : World({}, kRoomy) {
    for (unsigned i = 0; i < 2; ++i) {
      devices.push_back(std::make_unique<ExtollMessages>(port(i), host(i)));
      messages.push_back(std::make_unique<services::MatchedMessages>(host(i), *devices.back(), nullptr,
                                                                     services::MatchingParameters{}));
      conduits.push_back(
          std::make_unique<mpi::MpiConduit<sim::ModelHost>>(host(i), *messages.back(), Rank{i}, engine.ranks()));
    }
  }
  std::vector<std::unique_ptr<ExtollMessages>> devices;
  std::vector<std::unique_ptr<services::MatchedMessages>> messages;
  std::vector<std::unique_ptr<mpi::MpiConduit<sim::ModelHost>>> conduits;
};

TEST_CASE("mpi_short_round_trip_on_extoll_has_its_golden_time") {
  MpiWorld world;
  world.engine.start(Rank{0}, [&] {
    sim::ModelHost host = world.host(0);
    CHECK(try_send(*world.conduits[0], header_to(1, Category::short_message)) == Status::ok);
    CHECK(host.now().ps == 194'000);
    Sink sink([&](const AmView& message) {
      CHECK_FALSE(message.is_request);
      CHECK(host.now().ps == 2'247'600);
    });
    wait(*world.conduits[0], host, sink, [&] { return sink.messages == 1; });
  });
  world.engine.start(Rank{1}, [&] {
    sim::ModelHost host = world.host(1);
    Sink sink([&](const AmView& message) {
      CHECK(host.now().ps == 1'123'600);
      CHECK(message.handler == HandlerIndex{7});
      CHECK(try_send(*world.conduits[1], header_to(0, Category::short_message, 0, true)) == Status::ok);
    });
    wait(*world.conduits[1], host, sink, [&] { return sink.messages == 1; });
    CHECK(host.now().ps == 1'317'600);
  });
  world.engine.run();
}

}  // namespace
}  // namespace gasmeter::networks::extoll

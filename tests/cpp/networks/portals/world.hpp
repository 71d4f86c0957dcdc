// A small installation of SeaStar cards with round numbers.
#pragma once

#include <optional>
#include <vector>

#include "gasmeter/networks/portals/portals_network.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "support/card_world.hpp"

namespace gasmeter::networks::portals::testing {

// The prices of tests/golden/portals.md.
using gasmeter::testing::sleep_until;
using Shape = gasmeter::testing::CardShape;

inline constexpr std::uint32_t kPortal = 4;

struct World {
  explicit World(const Shape& shape = {}, const PortalsParameters& parameters = {}, Bytes bytes = 8192)
      : engine(options(shape)),
        network(engine, shape.wiring(kTopology), parameters),
        memory(shape.ranks, std::vector<std::byte>(bytes)) {}

  static constexpr const char* kTopology = "ring:2";
  static sim::EngineOptions options(const Shape& shape) {
    return gasmeter::testing::card_options(shape, shape.wiring(kTopology), gasmeter::testing::round_card_prices());
  }
  Portals& portals(unsigned rank) { return network.portals(Rank{rank}); }
  sim::ModelHost host(unsigned rank) { return engine.host(Rank{rank}); }
  std::byte* at(unsigned rank, Bytes offset = 0) { return memory[rank].data() + offset; }

  // Expose all memory of a rank behind one entry that takes everything.
  MdHandle expose(unsigned rank, EqHandle events) {
    return portals(rank).md_attach(portals(rank).me_attach(kPortal, {.ignore = ~std::uint64_t{0}}),
                                   {.start = at(rank),
                                    .length = memory[rank].size(),
                                    .put = true,
                                    .get = true,
                                    .remote_offset = true,
                                    .events = events});
  }
  // Bind the memory for the rank's own operations, too.
  MdHandle bind(unsigned rank, EqHandle events) {
    return portals(rank).md_bind({.start = at(rank), .length = memory[rank].size(), .events = events});
  }

  sim::Engine engine;
  PortalsNetwork network;
  std::vector<std::vector<std::byte>> memory;  // by rank
};

inline Event wait_for_event(Portals& portals, sim::ModelHost host, EqHandle events) {
  for (;;) {
    if (const std::optional<Event> event = portals.eq_get(events)) return *event;
    host.idle(kNever);
  }
}

}  // namespace gasmeter::networks::portals::testing

// A small Myrinet installation with round numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gasmeter/networks/gm/gm_network.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "support/card_world.hpp"

namespace gasmeter::networks::gm::testing {

// The prices of tests/golden/gm.md.
inline conduit::HostPrices round_prices() {
  return gasmeter::testing::round_card_prices();
}

using gasmeter::testing::sleep_until;
using Shape = gasmeter::testing::CardShape;

;

struct World {
  explicit World(const Shape& shape = {}, const GmParameters& parameters = {}, Bytes bytes = 4096)
      : engine(options(shape)),
        network(engine, shape.wiring(kTopology), parameters),
        memory(shape.ranks, std::vector<std::byte>(bytes)) {
    for (unsigned rank = 0; rank < shape.ranks; ++rank) port(rank).register_memory(memory[rank]);
  }

  static constexpr const char* kTopology = "crossbar:2";
  static sim::EngineOptions options(const Shape& shape) {
    return gasmeter::testing::card_options(shape, shape.wiring(kTopology), round_prices());
  }
  GmPort& port(unsigned rank) { return network.port(Rank{rank}); }
  sim::ModelHost host(unsigned rank) { return engine.host(Rank{rank}); }
  std::byte* at(unsigned rank, Bytes offset = 0) { return memory[rank].data() + offset; }
  // A receive for messages of a class.
  Receive receive_at(unsigned rank, Bytes offset, SizeClass size, Priority priority = Priority::low,
                     std::uint64_t id = 0) {
    return {id, std::span(memory[rank]).subspan(offset, Bytes{1} << size), size, priority};
  }
  // Send a message of the smallest class that fits it.
  Status send(unsigned from, unsigned to, Bytes offset, Bytes bytes, Priority priority = Priority::low,
              std::uint64_t id = 0) {
    return port(from).send(Rank{to}, at(from, offset), bytes, size_class_of(bytes), priority, id);
  }

  sim::Engine engine;
  GmNetwork network;
  std::vector<std::vector<std::byte>> memory;  // of each rank, registered at no price
};

inline Event wait_for_event(GmPort& port, sim::ModelHost host) {
  for (;;) {
    if (const std::optional<Event> event = port.poll()) return *event;
    host.idle(kNever);
  }
}

}  // namespace gasmeter::networks::gm::testing

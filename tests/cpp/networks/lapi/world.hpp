// A small installation of HPS adapters with round numbers.
#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/networks/lapi/lapi_network.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "support/card_world.hpp"

namespace gasmeter::networks::lapi::testing {

// The prices of tests/golden/lapi.md.
inline conduit::HostPrices round_prices() {
  return gasmeter::testing::round_card_prices();
}

using gasmeter::testing::sleep_until;
using Shape = gasmeter::testing::CardShape;

struct World {
  explicit World(const Shape& shape = {}, const LapiParameters& parameters = {}, Progress progress = Progress::poll,
                 Bytes bytes = 8192)
      : engine(options(shape)),
        network(engine, shape.wiring(kTopology), parameters, progress),
        memory(shape.ranks, std::vector<std::byte>(bytes)) {
    for (unsigned rank = 0; rank < shape.ranks; ++rank) task(rank).register_memory(memory[rank]);
  }

  static constexpr const char* kTopology = "crossbar:2";
  static sim::EngineOptions options(const Shape& shape) {
    return gasmeter::testing::card_options(shape, shape.wiring(kTopology), round_prices());
  }
  LapiTask& task(unsigned rank) { return network.task(Rank{rank}); }
  sim::ModelHost host(unsigned rank) { return engine.host(Rank{rank}); }
  std::byte* at(unsigned rank, Bytes offset = 0) { return memory[rank].data() + offset; }

  sim::Engine engine;
  LapiNetwork network;
  std::vector<std::vector<std::byte>> memory;  // of each rank, registered at no price
};

// A header handler that puts all data at one place. The counter is the number of bytes.
struct Lander final : HeaderHandler {
  explicit Lander(std::byte* where, bool handler = false) : to(where), by_handler(handler) {}
  Landing begin(Rank from, std::span<const std::byte> user_header, Bytes bytes) override {
    source = from;
    header.assign(user_header.begin(), user_header.end());
    ++calls;
    return {to, bytes, by_handler};
  }
  std::byte* to;
  bool by_handler;
  Rank source{};
  std::vector<std::byte> header;
  unsigned calls = 0;
};

// Wait for an event that is not LAPI's own.
inline Event wait_for_event(LapiTask& task, sim::ModelHost host) {
  for (;;) {
    const std::optional<Event> event = task.probe();
    if (event && event->type != Event::Type::none) return *event;
    if (!event) host.idle(kNever);
  }
}

}  // namespace gasmeter::networks::lapi::testing

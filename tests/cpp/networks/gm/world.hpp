// A small Myrinet installation with round numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gasmeter/networks/gm/gm_network.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::gm::testing {

// The prices of tests/golden/gm.md.
inline conduit::HostPrices round_prices() {
  using conduit::PrivatePrice;
  using conduit::SharedPrice;
  conduit::HostPrices prices;
  prices[PrivatePrice::call].fixed = {5'000};
  prices[PrivatePrice::header_build].fixed = {20'000};
  prices[PrivatePrice::dispatch].fixed = {20'000};
  prices[PrivatePrice::poll_miss].fixed = {10'000};
  prices[PrivatePrice::update].fixed = {5'000};
  prices[SharedPrice::line_store].fixed = {20'000};
  prices[SharedPrice::line_transfer].fixed = {100'000};
  prices[SharedPrice::pio_store] = {{40'000}, 1'000'000};
  prices.copy = {{10'000}, 100'000};
  return prices;
}

struct Shape {
  unsigned ranks = 2;
  std::string topology = "crossbar:2";
  std::vector<std::uint32_t> node_of = {};  // of each rank; empty: one after the other
  bool strict = false;
  unsigned threads = 1;
  conduit::Price registration = {};
};

struct World {
  explicit World(const Shape& shape = {}, const GmParameters& parameters = {}, Bytes bytes = 4096)
      : engine(options(shape)),
        network(engine, sim::Topology::parse(shape.topology), parameters),
        memory(shape.ranks, std::vector<std::byte>(bytes)) {
    for (unsigned rank = 0; rank < shape.ranks; ++rank) port(rank).register_memory(memory[rank]);
  }

  static sim::EngineOptions options(const Shape& shape) {
    sim::EngineOptions result;
    const sim::Topology topology = sim::Topology::parse(shape.topology);
    result.ranks = shape.ranks;
    result.nodes = topology.vertices();
    result.node_of = shape.node_of;
    for (unsigned rank = 0; shape.node_of.empty() && rank < shape.ranks; ++rank) {
      result.node_of.push_back(rank * topology.terminals() / shape.ranks);
    }
    result.prices = round_prices();
    result.prices[conduit::SharedPrice::registration] = shape.registration;
    result.strict = shape.strict;
    result.threads = shape.threads;
    return result;
  }
  GmPort& port(unsigned rank) { return network.port(Rank{rank}); }
  sim::ModelHost host(unsigned rank) { return engine.host(Rank{rank}); }
  std::byte* at(unsigned rank, Bytes offset = 0) { return memory[rank].data() + offset; }
  // For messages of a class.
  Receive receive_at(unsigned rank, Bytes offset, SizeClass size, Priority priority = Priority::low,
                     std::uint64_t id = 0) {
    return {id, std::span(memory[rank]).subspan(offset, Bytes{1} << size), size, priority};
  }
  // Of the class that takes it.
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

// Whatever arrives meanwhile.
inline void sleep_until(sim::ModelHost host, SimTime end) {
  while (host.now() < end) host.idle(end);
}

}  // namespace gasmeter::networks::gm::testing

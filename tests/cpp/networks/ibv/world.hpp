// A small InfiniBand installation with round numbers.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "gasmeter/networks/ibv/ibv_network.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::ibv::testing {

// The prices of tests/golden/ibv.md.
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
  prices[PrivatePrice::two_sided].fixed = {50'000};
  prices[PrivatePrice::match].per_byte_fs = 2'000'000;
  prices[SharedPrice::pio_store] = {{40'000}, 1'000'000};
  prices[SharedPrice::deregistration].fixed = {500'000};
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
  explicit World(const Shape& shape = {}, const IbvParameters& parameters = {}, Bytes bytes = 4096)
      : engine(options(shape)),
        network(engine, sim::Topology::parse(shape.topology), parameters),
        memory(shape.ranks, std::vector<std::byte>(bytes)) {
    for (unsigned rank = 0; rank < shape.ranks; ++rank) context(rank).register_memory(memory[rank]);
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
  IbvContext& context(unsigned rank) { return network.context(Rank{rank}); }
  sim::ModelHost host(unsigned rank) { return engine.host(Rank{rank}); }
  std::byte* at(unsigned rank, Bytes offset = 0) { return memory[rank].data() + offset; }
  Receive receive_at(unsigned rank, Bytes offset, Bytes bytes, std::uint64_t id = 0) {
    return {id, std::span(memory[rank]).subspan(offset, bytes)};
  }

  sim::Engine engine;
  IbvNetwork network;
  std::vector<std::vector<std::byte>> memory;  // of each rank, registered at no price
};

inline WorkCompletion wait_for_sent(IbvContext& context, sim::ModelHost host) {
  for (;;) {
    if (const std::optional<WorkCompletion> completion = context.poll_sent()) return *completion;
    host.idle(kNever);
  }
}

inline WorkCompletion wait_for_received(IbvContext& context, sim::ModelHost host) {
  for (;;) {
    if (const std::optional<WorkCompletion> completion = context.poll_received()) return *completion;
    host.idle(kNever);
  }
}

// Whatever arrives meanwhile.
inline void sleep_until(sim::ModelHost host, SimTime end) {
  while (host.now() < end) host.idle(end);
}

inline WorkRequest request(Opcode opcode, const void* local, Bytes bytes, void* remote = nullptr,
                           bool inlined = false) {
  WorkRequest result;
  result.opcode = opcode;
  result.local = local;
  result.bytes = bytes;
  result.remote = remote;
  result.inlined = inlined;
  return result;
}

inline WorkRequest fetch_add(const void* local, void* word, std::uint64_t operand) {
  WorkRequest result = request(Opcode::fetch_add, local, kAtomicWord, word);
  result.operand = operand;
  return result;
}

inline WorkRequest compare_swap(const void* local, void* word, std::uint64_t compare, std::uint64_t operand) {
  WorkRequest result = request(Opcode::compare_swap, local, kAtomicWord, word);
  result.compare = compare;
  result.operand = operand;
  return result;
}

// Words of test memory, aligned or not.
inline std::uint64_t word_at(const std::byte* at) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}
inline void set_word(std::byte* at, std::uint64_t value) {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace gasmeter::networks::ibv::testing

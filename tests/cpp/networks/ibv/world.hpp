// A small InfiniBand installation with round numbers.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "gasmeter/networks/ibv/ibv_network.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "support/card_world.hpp"

namespace gasmeter::networks::ibv::testing {

// The prices of tests/golden/ibv.md.
inline conduit::HostPrices round_prices() {
  using conduit::PrivatePrice;
  using conduit::SharedPrice;
  conduit::HostPrices prices = gasmeter::testing::round_card_prices();
  prices[PrivatePrice::two_sided].fixed = {50'000};
  prices[PrivatePrice::match].per_byte_fs = 2'000'000;
  prices[SharedPrice::deregistration].fixed = {500'000};
  return prices;
}

using gasmeter::testing::sleep_until;
using Shape = gasmeter::testing::CardShape;

;

struct World {
  explicit World(const Shape& shape = {}, const IbvParameters& parameters = {}, Bytes bytes = 4096)
      : engine(options(shape)),
        network(engine, shape.wiring(kTopology), parameters),
        memory(shape.ranks, std::vector<std::byte>(bytes)) {
    for (unsigned rank = 0; rank < shape.ranks; ++rank) context(rank).register_memory(memory[rank]);
  }

  static constexpr const char* kTopology = "crossbar:2";
  static sim::EngineOptions options(const Shape& shape) {
    return gasmeter::testing::card_options(shape, shape.wiring(kTopology), round_prices());
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

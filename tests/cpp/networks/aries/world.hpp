// A small installation of Aries cards with round numbers.
#pragma once

#include <optional>
#include <vector>

#include "gasmeter/networks/aries/aries_network.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "support/card_world.hpp"

namespace gasmeter::networks::aries::testing {

// The prices of tests/golden/aries.md.
inline conduit::HostPrices round_prices() {
  using conduit::PrivatePrice;
  conduit::HostPrices prices = gasmeter::testing::round_card_prices();
  prices[PrivatePrice::two_sided].fixed = {50'000};
  prices[PrivatePrice::match].per_byte_fs = 2'000'000;
  return prices;
}

using gasmeter::testing::sleep_until;
using Shape = gasmeter::testing::CardShape;

// Each rank has registered memory, a queue for remote events of that memory, and a queue for its posts.
struct World {
  explicit World(const Shape& shape = {}, const AriesParameters& parameters = {}, Bytes bytes = 8192,
                 std::uint32_t entries = 1024)
      : engine(options(shape)),
        network(engine, shape.wiring(kTopology), parameters),
        memory(shape.ranks, std::vector<std::byte>(bytes)) {
    for (unsigned rank = 0; rank < shape.ranks; ++rank) {
      arrivals.push_back(domain(rank).cq_create(entries));
      completions.push_back(domain(rank).cq_create(entries));
      handles.push_back(domain(rank).admit(memory[rank], arrivals[rank]));
    }
  }

  static constexpr const char* kTopology = "crossbar:2";
  static sim::EngineOptions options(const Shape& shape) {
    return gasmeter::testing::card_options(shape, shape.wiring(kTopology), round_prices());
  }
  Domain& domain(unsigned rank) { return network.domain(Rank{rank}); }
  sim::ModelHost host(unsigned rank) { return engine.host(Rank{rank}); }
  std::byte* at(unsigned rank, Bytes offset = 0) { return memory[rank].data() + offset; }
  // Endpoint of `rank` for a peer.
  Endpoint endpoint(unsigned rank, unsigned peer) { return {Rank{peer}, completions[rank], 1000 + rank}; }

  // A post from `rank`'s memory at 0 to the peer's at 256, or back.
  PostDescriptor transfer(PostType type, unsigned rank, unsigned peer, Bytes bytes, CqMode mode = kGlobalEvent) {
    PostDescriptor post;
    post.post_id = 7;
    post.type = type;
    post.cq_mode = mode;
    post.local = at(rank);
    post.local_memory = handles[rank];
    post.remote = at(peer, 256);
    post.remote_memory = handles[peer];
    post.length = bytes;
    return post;
  }
  // An atomic on the peer's word at `offset`. The old value goes to this rank's memory at 0.
  PostDescriptor amo(unsigned rank, unsigned peer, AmoCommand command, AmoOperands operands, Bytes offset = 256,
                     AmoType type = AmoType::i64) {
    PostDescriptor post = transfer(PostType::amo, rank, peer, 0);
    post.remote = at(peer, offset);
    post.command = command;
    post.amo_type = type;
    post.fetches = true;
    post.operands = operands;
    return post;
  }

  sim::Engine engine;
  AriesNetwork network;
  std::vector<std::vector<std::byte>> memory;  // by rank
  std::vector<CqHandle> arrivals;
  std::vector<CqHandle> completions;
  std::vector<MemoryHandle> handles;
};

inline CqEvent wait_for_event(World& world, unsigned rank, CqHandle queue) {
  for (;;) {
    if (const std::optional<CqEvent> event = world.domain(rank).cq_get_event(queue)) return *event;
    world.host(rank).idle(kNever);
  }
}

}  // namespace gasmeter::networks::aries::testing

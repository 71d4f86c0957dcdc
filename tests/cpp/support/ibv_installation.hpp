// InfiniBand adapters under one switch for ModelWorldOn.
#pragma once

#include <memory>
#include <string>

#include "gasmeter/networks/ibv/ibv_conduit.hpp"
#include "gasmeter/networks/ibv/ibv_messages.hpp"
#include "gasmeter/networks/ibv/ibv_network.hpp"
#include "gasmeter/services/matched_messages.hpp"
#include "networks/ibv/world.hpp"
#include "support/model_world.hpp"

namespace gasmeter::testing {

// With the limits of the time, or with ones so tight that every kind of them is met.
template <bool Tight>
class IbvInstallationOf {
 public:
  static sim::EngineOptions options(const ModelShape& shape) {
    sim::EngineOptions result;
    result.ranks = shape.ranks;
    result.nodes = sim::Topology::parse(topology(shape)).vertices();
    const unsigned per_node = (shape.ranks + shape.nodes - 1) / shape.nodes;
    for (unsigned rank = 0; rank < shape.ranks; ++rank) result.node_of.push_back(rank / per_node);
    result.prices = networks::ibv::testing::round_prices();
    result.strict = shape.strict;
    return result;
  }
  IbvInstallationOf(sim::Engine& engine, const ModelShape& shape)
      : network_(engine, sim::Topology::parse(topology(shape)),
                 {.mtu = 1024, .inline_limit = Tight ? Bytes{16} : Bytes{128}, .not_ready_timer = {2'000'000}}) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    networks::ibv::IbvLimits limits;
    if constexpr (Tight) {
      limits = {.peer_requests = 4,
                .all_requests = 5,
                .banked = 1,
                .peer_sends = 6,
                .all_sends = 7,
                .shared_receives = 2,
                .large_buffers = 2};
    }
    return std::make_unique<networks::ibv::IbvConduit>(network_.context(host.rank()), host, network_.engine().ranks(),
                                                       limits);
  }

 private:
  static std::string topology(const ModelShape& shape) { return "crossbar:" + std::to_string(shape.nodes); }

  networks::ibv::IbvNetwork network_;
};

// Two-sided messages on such adapters, for MpiOn; node mates reach each other through memory, or, with as little of
// everything as carries a message, through their adapter.
template <bool Tight>
class IbvMessagesOf {
 public:
  static constexpr bool kNodeByMemory = !Tight;
  static sim::EngineOptions options(const ModelShape& shape) { return IbvInstallationOf<Tight>::options(shape); }
  IbvMessagesOf(sim::Engine& engine, const ModelShape& shape)
      : ranks_(shape.ranks),
        network_(engine, sim::Topology::parse("crossbar:" + std::to_string(shape.nodes)),
                 {.mtu = 1024, .inline_limit = Tight ? Bytes{16} : Bytes{128}, .not_ready_timer = {2'000'000}}) {}
  [[nodiscard]] std::unique_ptr<services::MessageDevice> messages(sim::ModelHost host) {
    networks::ibv::IbvMessageLimits limits;
    if constexpr (Tight) limits = {.receives = 2, .all_sends = 3, .peer_sends = 2};
    return std::make_unique<networks::ibv::IbvMessages>(network_.context(host.rank()), host, ranks_,
                                                        services::MatchingParameters{}.eager, limits);
  }

 private:
  unsigned ranks_;
  networks::ibv::IbvNetwork network_;
};

}  // namespace gasmeter::testing

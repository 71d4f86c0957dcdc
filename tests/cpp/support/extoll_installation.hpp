// A row of EXTOLL cards for ModelWorldOn.
#pragma once

#include <memory>
#include <string>

#include "gasmeter/networks/extoll/extoll_conduit.hpp"
#include "gasmeter/networks/extoll/extoll_messages.hpp"
#include "gasmeter/networks/extoll/extoll_network.hpp"
#include "networks/extoll/world.hpp"
#include "support/model_world.hpp"

namespace gasmeter::testing {

// Every way of node mates to reach each other and every implementation of active messages.
template <bool Early, bool NodeByMemory, unsigned Slots, unsigned Outstanding = 0>
class ExtollInstallationOf {
 public:
  static sim::EngineOptions options(const ModelShape& shape) {
    return networks::extoll::testing::World::options(
        {.ranks = shape.ranks, .topology = topology(shape), .strict = shape.strict});
  }
  ExtollInstallationOf(sim::Engine& engine, const ModelShape& shape)
      : network_(engine, sim::Topology::parse(topology(shape)),
                 {.mailbox_slots = Slots, .read_pointer_update = Slots / 4}) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    using networks::extoll::AmOptions;
    AmOptions options = Early ? AmOptions::early() : AmOptions::improved();
    options.node_by_memory = NodeByMemory;
    options.outstanding = Outstanding;
    return std::make_unique<networks::extoll::ExtollConduit>(network_, host, host.rank(), options);
  }

 private:
  static std::string topology(const ModelShape& shape) { return "mesh2d:" + std::to_string(shape.nodes) + "x1"; }

  networks::extoll::ExtollNetwork network_;
};

// Two-sided messages on such cards, for MpiOn.
template <bool NodeByMemory, unsigned Slots>
class ExtollMessagesOf {
 public:
  static constexpr bool kNodeByMemory = NodeByMemory;
  static sim::EngineOptions options(const ModelShape& shape) {
    return ExtollInstallationOf<false, NodeByMemory, Slots>::options(shape);
  }
  ExtollMessagesOf(sim::Engine& engine, const ModelShape& shape)
      : network_(engine, sim::Topology::parse("mesh2d:" + std::to_string(shape.nodes) + "x1"),
                 {.mailbox_slots = Slots, .read_pointer_update = Slots / 4}) {}
  [[nodiscard]] std::unique_ptr<services::MessageDevice> messages(sim::ModelHost host) {
    return std::make_unique<networks::extoll::ExtollMessages>(network_.port(host.rank()), host);
  }

 private:
  networks::extoll::ExtollNetwork network_;
};

using ExtollInstallation = ExtollInstallationOf<false, true, 64>;

}  // namespace gasmeter::testing

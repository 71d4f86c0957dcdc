// A row of EXTOLL cards for ModelWorldOn.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gasmeter/networks/extoll/extoll_conduit.hpp"
#include "gasmeter/networks/extoll/extoll_messages.hpp"
#include "gasmeter/networks/extoll/extoll_network.hpp"
#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "gasmeter/services/matched_messages.hpp"
#include "gasmeter/services/node_messages.hpp"
#include "networks/extoll/world.hpp"
#include "support/model_world.hpp"

namespace gasmeter::testing {

// Every way of node mates to reach each other and every implementation of active messages.
template <bool Early, bool NodeByMemory, unsigned Slots>
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
    return std::make_unique<networks::extoll::ExtollConduit>(network_, host, host.rank(), options);
  }

 private:
  static std::string topology(const ModelShape& shape) { return "mesh2d:" + std::to_string(shape.nodes) + "x1"; }

  networks::extoll::ExtollNetwork network_;
};

// The mpi conduit over two-sided messages on such cards.
template <bool NodeByMemory, unsigned Slots>
class MpiOnExtollOf {
 public:
  static sim::EngineOptions options(const ModelShape& shape) {
    return ExtollInstallationOf<false, NodeByMemory, Slots>::options(shape);
  }
  MpiOnExtollOf(sim::Engine& engine, const ModelShape& shape)
      : engine_(engine),
        network_(engine, sim::Topology::parse("mesh2d:" + std::to_string(shape.nodes) + "x1"),
                 {.mailbox_slots = Slots, .read_pointer_update = Slots / 4}),
        boxes_(shape.ranks),
        members_(shape.ranks) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    Member& member = members_[index(host.rank())];
    member.network = std::make_unique<networks::extoll::ExtollMessages>(network_.port(host.rank()), host);
    if (NodeByMemory) member.near = std::make_unique<services::NodeMessages>(boxes_, host);
    member.messages = std::make_unique<services::MatchedMessages>(host, *member.network, member.near.get(),
                                                                  services::MatchingParameters{});
    auto made = std::make_unique<Mpi>(host, *member.messages, host.rank(), engine_.ranks());
    member.conduit = made.get();
    return made;
  }
  // Between two programs, which meet without it.
  void serve(Rank rank) { members_[index(rank)].conduit->serve(); }
  // What the others still lack may be in this rank's hands.
  void settle(Rank rank) {
    Mpi& conduit = *members_[index(rank)].conduit;
    for (conduit.serve(); !conduit.is_quiet(); conduit.serve()) engine_.host(rank).idle(kNever);
  }

 private:
  using Mpi = networks::mpi::MpiConduit<sim::ModelHost>;
  struct Member {
    std::unique_ptr<networks::extoll::ExtollMessages> network;
    std::unique_ptr<services::NodeMessages> near;
    std::unique_ptr<services::MatchedMessages> messages;
    Mpi* conduit = nullptr;
  };

  sim::Engine& engine_;
  networks::extoll::ExtollNetwork network_;
  services::NodeBoxes boxes_;
  std::vector<Member> members_;
};

using ExtollInstallation = ExtollInstallationOf<false, true, 64>;

}  // namespace gasmeter::testing

// The mpi conduit over two-sided messages on a modelled network, for ModelWorldOn.
#pragma once

#include <memory>
#include <vector>

#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "gasmeter/services/matched_messages.hpp"
#include "gasmeter/services/node_messages.hpp"
#include "support/model_world.hpp"

namespace gasmeter::testing {

// `Network` is made of an engine and a shape; it has options(shape), messages(host) and kNodeByMemory, whether node
// mates reach each other through memory.
template <class Network>
class MpiOn {
 public:
  static sim::EngineOptions options(const ModelShape& shape) { return Network::options(shape); }
  MpiOn(sim::Engine& engine, const ModelShape& shape)
      : engine_(engine), network_(engine, shape), boxes_(shape.ranks), members_(shape.ranks) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    Member& member = members_[index(host.rank())];
    member.network = network_.messages(host);
    if (Network::kNodeByMemory) member.near = std::make_unique<services::NodeMessages>(boxes_, host);
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
    std::unique_ptr<services::MessageDevice> network;
    std::unique_ptr<services::NodeMessages> near;
    std::unique_ptr<services::MatchedMessages> messages;
    Mpi* conduit = nullptr;
  };

  sim::Engine& engine_;
  Network network_;
  services::NodeBoxes boxes_;
  std::vector<Member> members_;
};

}  // namespace gasmeter::testing

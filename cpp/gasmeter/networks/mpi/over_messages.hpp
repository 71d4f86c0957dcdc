// The mpi conduits and raw programs of all ranks of a job, over any modelled network that offers messages.
#pragma once

#include <memory>
#include <vector>

#include "gasmeter/networks/modelled_network.hpp"
#include "gasmeter/networks/mpi/two_sided_conduit.hpp"
#include "gasmeter/services/matched_messages.hpp"
#include "gasmeter/services/node_messages.hpp"
#include "gasmeter/services/two_sided_service.hpp"

namespace gasmeter::networks::mpi {

// The network matches messages itself, or the library matches them over its device. Options of the latter:
// node_local=`shared` carries messages of a node through its memory, `loop` through the network. registration=`cached`
// keeps memory of long messages registered.
class OverMessages final : public ServiceRanks {
 public:
  // All arguments outlive this object.
  OverMessages(sim::Engine& engine, ModelledNetwork& network, const services::MatchingParameters& parameters,
               const Settings& settings);

  [[nodiscard]] std::unique_ptr<conduit::Conduit> make_conduit(Rank rank) override;
  [[nodiscard]] std::unique_ptr<Program> make_raw(Rank rank) override;
  void settle(Rank rank) override;
  void serve(Rank rank) override;

  [[nodiscard]] static std::vector<OptionInfo> matching_options();

 private:
  struct Member {
    std::unique_ptr<services::MessageDevice> network;
    std::unique_ptr<services::NodeMessages> near;
    std::unique_ptr<services::TwoSidedService> service;
    TwoSidedConduit* conduit = nullptr;  // owned by the caller of make_conduit()
  };

  [[nodiscard]] services::TwoSidedService& add(Rank rank);

  sim::Engine& engine_;
  ModelledNetwork& network_;
  services::MatchingParameters parameters_;
  const Settings& settings_;
  services::MessageBoxes boxes_;
  std::vector<Member> members_;
};

}  // namespace gasmeter::networks::mpi

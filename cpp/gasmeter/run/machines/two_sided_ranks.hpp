// The two-sided layer of a job in virtual time: of every rank its messages, over its network's adaptor.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "gasmeter/run/request.hpp"
#include "gasmeter/services/matched_messages.hpp"
#include "gasmeter/services/node_messages.hpp"
#include "gasmeter/sim/engine.hpp"

namespace gasmeter::run {

// Whether a request is for the two-sided layer of its network: mpi@NETWORK or raw@mpi@NETWORK.
[[nodiscard]] bool is_two_sided(const Request& request);

// The engine and the request outlive it. Option node_local: `shared` carries what is for ranks of the own node through
// its memory, `loop` through the network.
class TwoSidedRanks {
 public:
  TwoSidedRanks(sim::Engine& engine, const services::MatchingParameters& parameters, const Request& request);

  // Each at most once for a rank; what it makes lives as long as this.
  [[nodiscard]] std::unique_ptr<conduit::Conduit> make_conduit(Rank rank,
                                                               std::unique_ptr<services::MessageDevice> network);
  [[nodiscard]] std::unique_ptr<kernels::Program> make_raw(Rank rank, std::unique_ptr<services::MessageDevice> network);
  // ModelNetwork::settle().
  void settle(Rank rank);

 private:
  using Mpi = networks::mpi::MpiConduit<sim::ModelHost>;
  struct Member {
    std::unique_ptr<services::MessageDevice> network;
    std::unique_ptr<services::NodeMessages> near;
    std::unique_ptr<services::MatchedMessages> messages;
    Mpi* conduit = nullptr;  // owned by whoever asked for it
  };

  [[nodiscard]] services::MatchedMessages& add(Rank rank, std::unique_ptr<services::MessageDevice> network);

  sim::Engine& engine_;
  services::MatchingParameters parameters_;
  const Request& request_;
  services::NodeBoxes boxes_;
  std::vector<Member> members_;
};

}  // namespace gasmeter::run

#include "gasmeter/run/machines/two_sided_ranks.hpp"

#include <utility>

namespace gasmeter::run {

bool is_two_sided(const Request& request) {
  const std::string& name = request.conduit->name;
  return name.starts_with("mpi@") || name.starts_with("raw@mpi@");
}

TwoSidedRanks::TwoSidedRanks(sim::Engine& engine, const services::MatchingParameters& parameters,
                             const Request& request)
    : engine_(engine), parameters_(parameters), request_(request), boxes_(engine.ranks()), members_(engine.ranks()) {}

services::MatchedMessages& TwoSidedRanks::add(Rank rank, std::unique_ptr<services::MessageDevice> network) {
  const sim::ModelHost host = engine_.host(rank);
  Member& member = members_[index(rank)];
  member.network = std::move(network);
  if (request_.settings.text("node_local") == "shared") {
    member.near = std::make_unique<services::NodeMessages>(boxes_, host);
  }
  member.messages = std::make_unique<services::MatchedMessages>(host, *member.network, member.near.get(), parameters_);
  return *member.messages;
}

std::unique_ptr<conduit::Conduit> TwoSidedRanks::make_conduit(Rank rank,
                                                              std::unique_ptr<services::MessageDevice> network) {
  services::MatchedMessages& messages = add(rank, std::move(network));
  auto conduit = std::make_unique<Mpi>(engine_.host(rank), messages, rank, engine_.ranks());
  members_[index(rank)].conduit = conduit.get();
  return conduit;
}

std::unique_ptr<kernels::Program> TwoSidedRanks::make_raw(Rank rank, std::unique_ptr<services::MessageDevice> network) {
  if (request_.kernel->make_raw_two_sided == nullptr) return nullptr;
  return request_.kernel->make_raw_two_sided({add(rank, std::move(network)), engine_.host(rank), rank, engine_.ranks()},
                                             request_.settings);
}

void TwoSidedRanks::settle(Rank rank) {
  Mpi* const conduit = members_[index(rank)].conduit;
  if (conduit == nullptr) return;
  sim::ModelHost host = engine_.host(rank);
  for (conduit->serve(); !conduit->is_quiet(); conduit->serve()) host.idle(kNever);
}

}  // namespace gasmeter::run

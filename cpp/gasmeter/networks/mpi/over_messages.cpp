#include "gasmeter/networks/mpi/over_messages.hpp"

#include <optional>
#include <utility>

#include "gasmeter/networks/mpi/ammpi_conduit.hpp"
#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "gasmeter/networks/mpi/protocol_options.hpp"
#include "gasmeter/networks/mpi/raw_modelled/programs.hpp"
#include "gasmeter/networks/option_table.hpp"

namespace gasmeter::networks::mpi {

OverMessages::OverMessages(sim::Engine& engine, ModelledNetwork& network,
                           const services::MatchingParameters& parameters, const Settings& settings)
    : engine_(engine),
      network_(network),
      parameters_(parameters),
      settings_(settings),
      boxes_(engine.ranks()),
      members_(engine.ranks()) {}

services::TwoSidedService& OverMessages::add(Rank rank) {
  Member& member = members_[index(rank)];
  member.service = network_.make_two_sided(rank);
  if (member.service != nullptr) return *member.service;
  const sim::ModelHost host = engine_.host(rank);
  member.network = network_.make_messages(rank);
  if (settings_.text("node_local") == "shared") {
    member.near = std::make_unique<services::NodeMessages>(boxes_, host);
  }
  member.service = std::make_unique<services::MatchedMessages>(host, *member.network, member.near.get(), parameters_,
                                                               settings_.text("registration") == "cached");
  return *member.service;
}

std::unique_ptr<conduit::Conduit> OverMessages::make_conduit(Rank rank) {
  services::TwoSidedService& messages = add(rank);
  const sim::ModelHost host = engine_.host(rank);
  std::unique_ptr<TwoSidedConduit> conduit;
  if (const std::optional<std::uint32_t> depth = ammpi_depth(settings_)) {
    conduit = std::make_unique<AmmpiConduit<sim::ModelHost>>(host, messages, engine_.ranks(), *depth);
  } else {
    conduit = std::make_unique<MpiConduit<sim::ModelHost>>(host, messages, rank, engine_.ranks());
  }
  members_[index(rank)].conduit = conduit.get();
  return conduit;
}

std::unique_ptr<Program> OverMessages::make_raw(Rank rank) {
  return networks::make_raw<raw_modelled::Context<sim::ModelHost>>(
      raw_modelled::programs(), {add(rank), engine_.host(rank), rank, engine_.ranks()}, settings_);
}

void OverMessages::settle(Rank rank) {
  TwoSidedConduit* const conduit = members_[index(rank)].conduit;
  if (conduit == nullptr) return;
  sim::ModelHost host = engine_.host(rank);
  for (conduit->serve(); !conduit->is_quiet(); conduit->serve()) host.idle(kNever);
}

void OverMessages::serve(Rank rank) {
  TwoSidedConduit* const conduit = members_[index(rank)].conduit;
  if (conduit != nullptr) conduit->serve();
}

std::vector<OptionInfo> OverMessages::matching_options() {
  return {node_local_option("shared", "messages"),
          registration_option("memory of long messages stays registered where it has been once, at no limit")};
}

}  // namespace gasmeter::networks::mpi

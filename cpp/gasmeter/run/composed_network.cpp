#include "gasmeter/run/composed_network.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/services/matched_messages.hpp"

namespace gasmeter::run {

networks::ModelledJob job_of(const Request& request) {
  using networks::Use;
  const Use own = request.is_raw() ? Use::raw : Use::conduit;
  return {request.settings, request.machine, request.conduit->on->info.name,
          request.conduit->service != nullptr ? Use::service : own};
}

std::unique_ptr<networks::ModelledMachine> machine_of(const Request& request) {
  const networks::ModelledEntry* const entry = request.conduit->on;
  if (entry == nullptr) throw UsageError("network " + request.conduit->network + " is not modelled");
  if (entry->needs_machine && request.machine.empty()) {
    throw UsageError("conduit " + request.conduit->name + " needs the numbers of a machine; none were given");
  }
  return entry->make(job_of(request));
}

Bytes largest_segment(const Request& request, const networks::ModelledMachine& machine) {
  return request.conduit->service == nullptr ? machine.largest_segment() : std::numeric_limits<Bytes>::max();
}

ComposedNetwork::ComposedNetwork(const Request& request, const networks::ModelledMachine& machine, sim::Engine& engine,
                                 networks::ServiceEntry::Make make)
    : request_(request), engine_(engine), network_(machine.make_network(engine)) {
  const networks::ServiceEntry* const service = request.conduit->service;
  if (service == nullptr) return;
  service_ = (make != nullptr ? make : service->make)(engine, *network_, machine, request.settings);
}

std::unique_ptr<conduit::Conduit> ComposedNetwork::make_conduit(sim::ModelHost host) {
  return service_ != nullptr ? service_->make_conduit(host.rank()) : network_->make_conduit(host);
}

std::unique_ptr<bench::Program> ComposedNetwork::make_raw(Rank rank) {
  return service_ != nullptr ? service_->make_raw(rank) : network_->make_raw(rank);
}

void ComposedNetwork::settle(Rank rank) {
  service_ != nullptr ? service_->settle(rank) : network_->settle(rank);
}

void ComposedNetwork::serve(Rank rank) {
  service_ != nullptr ? service_->serve(rank) : network_->serve(rank);
}

std::vector<std::string> ComposedNetwork::unused_keys() const {
  const std::optional<std::vector<std::string>> idle = network_->idle_units();
  if (!idle) return {};
  std::vector<std::string> keys = conduit::uncharged_host_keys(engine_.charges());
  const networks::ModelledEntry& on = *request_.conduit->on;
  for (const networks::ParameterInfo& parameter : on.parameters) {
    if (std::find(idle->begin(), idle->end(), parameter.of_unit()) != idle->end()) keys.push_back(parameter.key);
  }
  if (on.messages.empty()) return keys;
  for (std::string& key : services::unused_matching_keys(engine_.charges(), service_ != nullptr)) {
    const auto has_it = [&key](const networks::ParameterInfo& parameter) { return parameter.key == key; };
    if (std::any_of(on.parameters.begin(), on.parameters.end(), has_it)) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace gasmeter::run

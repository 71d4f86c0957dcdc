// The network of a job in virtual time, with the service between it and a conduit, where the conduit uses one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gasmeter/networks/modelled_network.hpp"
#include "gasmeter/run/request.hpp"

namespace gasmeter::run {

// Return the request as a network takes it.
[[nodiscard]] networks::ModelledJob job_of(const Request& request);
// Return the machine of a request, which outlives it. Throws UsageError for options and numbers that fit neither the
// network nor the ranks.
[[nodiscard]] std::unique_ptr<networks::ModelledMachine> machine_of(const Request& request);
// Bytes that the segment of a rank may have. A conduit over a service keeps its segment in memory of its own, and a raw
// program has none: no limit.
[[nodiscard]] Bytes largest_segment(const Request& request, const networks::ModelledMachine& machine);

class ComposedNetwork final : public networks::ModelledNetwork {
 public:
  // All arguments outlive the network. `make`: replaces the service's own maker of the layer between network and
  // conduit.
  ComposedNetwork(const Request& request, const networks::ModelledMachine& machine, sim::Engine& engine,
                  networks::ServiceEntry::Make make = nullptr);

  [[nodiscard]] std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override;
  [[nodiscard]] std::unique_ptr<bench::Program> make_raw(Rank rank) override;
  void settle(Rank rank) override;
  void serve(Rank rank) override;
  [[nodiscard]] bool record_raw(conduit::RankRecord& record) override { return network_->record_raw(record); }
  // Return keys of the machine that nothing has depended on so far: other values would have given the same picoseconds.
  // Empty where the network cannot tell.
  [[nodiscard]] std::vector<std::string> unused_keys() const;
  void add_to(conduit::Counts& counts) override { network_->add_to(counts); }
  [[nodiscard]] sim::Fabric* fabric() override { return network_->fabric(); }
  void name_steps(sim::Tracer& tracer) override { network_->name_steps(tracer); }

 private:
  const Request& request_;
  sim::Engine& engine_;
  std::unique_ptr<networks::ModelledNetwork> network_;
  std::unique_ptr<networks::ServiceRanks> service_;  // null: the network's own conduit
};

}  // namespace gasmeter::run

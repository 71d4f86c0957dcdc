// Myrinet with GM to the rest of the library: what it offers, options, parameters, raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/networks/gm/gm_conduit.hpp"
#include "gasmeter/networks/gm/gm_network.hpp"
#include "gasmeter/networks/gm/invented_machine.hpp"
#include "gasmeter/networks/gm/raw/programs.hpp"
#include "gasmeter/networks/installation.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace gm {
namespace {

using conduit::MachineValues;

class Modelled final : public ModelledNetwork {
 public:
  Modelled(sim::Engine& engine, const sim::Topology& topology, const GmParameters& parameters, const Settings& settings)
      : engine_(engine), near_(engine.ranks()), network_(engine, topology, parameters), settings_(settings) {}

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    return std::make_unique<GmConduit>(network_.port(host.rank()), host, engine_.ranks(), GmLimits{},
                                       settings_.text("node_local") == "shared" ? &near_ : nullptr);
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(raw::programs(), {network_.port(rank), engine_.host(rank), rank, engine_.ranks()},
                              settings_);
  }
  std::optional<std::vector<std::string>> idle_units() const override { return std::vector<std::string>{}; }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      const PortCounters& seen = network_.port(Rank{rank}).counters();
      counts.add(Count::commands, seen.sends);
      counts.add(Count::refusals, seen.refused);
      counts.add(Count::not_ready, seen.no_receive);
      counts.add(Count::retransmits, seen.sent_again);
    }
  }
  sim::Fabric* fabric() override { return &network_.fabric(); }

 private:
  sim::Engine& engine_;
  services::AmBoxes near_;  // outlive the bodies, which the network's end cancels
  GmNetwork network_;
  const Settings& settings_;
};

class Machine final : public ModelledMachine {
 public:
  Machine(const ModelledJob& job, MachineValues machine)
      : settings_(job.settings),
        installation_(machine, job),
        prices_(conduit::host_prices(machine, kInstructions)),
        parameters_(gm_parameters(machine)) {
    machine.check_all_used();
  }

  sim::EngineOptions engine_options() const override { return installation_.engine_options(settings_, prices_); }
  std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<Modelled>(engine, installation_.topology(), parameters_, settings_);
  }

 private:
  const Settings& settings_;
  Installation installation_;
  conduit::HostPrices prices_;
  GmParameters parameters_;
};

std::vector<ParameterInfo> parameters() {
  static const std::vector<ParameterInfo> own = {
      {"link.mtu", "size", "largest payload of one packet"},
      {"lanai.packet", "time", "the card's processor is busy with a packet of data, at either side"},
      {"lanai.directed", "time", "likewise at the target, with one of a directed send"},
      {"lanai.acknowledgement", "time", "likewise at either side, with an answer of the card's own"},
      {"lanai.dma_start", "time", "until a DMA of the card moves its first byte"},
      {"lanai.descriptor", "size", "a send or a receive as software stores it into the card"},
      {"pci.bandwidth", "bandwidth", "DMA between card and host memory, both directions together"},
      {"port.send_tokens", "count", "sends that a port may have under way"},
      {"port.receive_tokens", "count", "receives that a port may have provided"},
      {"port.hold_timer", "time", "until a message goes again that found no receive"},
      software_time("host.gm_send", "what GM's library does for a send, beside the store into the card"),
      software_time("host.gm_receive", "likewise for a message that has come, beside looking and providing"),
  };
  return joined({card_parameters(), own});
}

// With as many tokens as ports had, and with so few that they are short all the time.
std::vector<ConformanceSetup> conformance() {
  const std::vector<TrialPlan> trials = {{Trial::compared, {{2, 2}, {4, 2}, {5, 3, true}}},
                                         {Trial::third_refused, {{4, 2}}}};
  return {{.name = "usual tokens", .trials = trials, .repeats = true},
          {.name = "few tokens", .machine = "tight", .trials = trials},
          {.name = "node mates through memory",
           .options = {{"node_local", "shared"}},
           .trials = {{Trial::compared, {{3, 1}, {4, 2}}}, {Trial::third_refused, {{4, 2}}}}},
          {.name = "node mates through memory, few tokens",
           .machine = "tight",
           .options = {{"node_local", "shared"}},
           .trials = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{4, 2}}}},
           .repeats = true}};
}

// Of those sends a rank keeps two for replies; three requests have to leave while nobody takes any.
std::vector<TrialMachine> trial_machines() {
  return {
      {.name = "usual", .repeats = true},
      {.name = "tight",
       .other = {
           {"port.send_tokens", 7.0}, {"port.receive_tokens", 2.0}, {"port.hold_timer", 5e-6}, {"link.mtu", 512.0}}}};
}

}  // namespace
}  // namespace gm

void register_gm(Registry& registry) {
  using namespace gm;
  ModelledEntry entry;
  entry.info = {.name = "gm",
                .summary = "Myrinet with GM: ports with tokens, messages by size class, directed sends",
                .conduits = {{"gm",
                              "active messages by GM messages between registered buffers, long payloads by directed "
                              "sends, over modelled Myrinet cards",
                              {node_local_option("loop")}}},
                .raw_options = {},
                .raw = listed(raw::programs())};
  entry.parameters = parameters();
  entry.make = [](const ModelledJob& job) -> std::unique_ptr<ModelledMachine> {
    return std::make_unique<Machine>(job, conduit::MachineValues("gm", job.machine));
  };
  entry.invented = &invented_machine;
  entry.conformance = conformance();
  entry.trial_machines = trial_machines();
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

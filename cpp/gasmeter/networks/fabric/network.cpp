// Registration of links and routers alone: no conduit, a raw program, parameters.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gasmeter/networks/fabric/bare_network.hpp"
#include "gasmeter/networks/fabric/link_options.hpp"
#include "gasmeter/networks/fabric/raw/programs.hpp"
#include "gasmeter/networks/installation.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace fabric {
namespace {

using conduit::MachineValues;

class Modelled final : public ModelledNetwork {
 public:
  Modelled(sim::Engine& engine, const sim::Topology& topology, const sim::FabricParameters& links,
           std::uint32_t flow_of_puts, const Settings& settings)
      : engine_(engine),
        network_(engine, topology, links, share(raw::programs(), settings), flow_of_puts),
        settings_(settings) {}

  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(raw::programs(), {network_.port(rank), rank, engine_.ranks()}, settings_);
  }
  // A record cannot tell completions apart that overtake one another.
  bool record_raw(conduit::RankRecord& record) override {
    if (!network_.keeps_order()) return false;
    network_.port(record.rank()).record(record);
    return true;
  }
  sim::Fabric* fabric() override { return &network_.fabric(); }

 private:
  sim::Engine& engine_;
  BareNetwork network_;
  const Settings& settings_;
};

class Machine final : public ModelledMachine {
 public:
  Machine(const ModelledJob& job, MachineValues machine)
      : settings_(job.settings),
        installation_(machine, job),
        parameters_(BareParameters::from(machine)),
        links_(with_options(parameters_.links, settings_)),
        flow_of_puts_(unordered_flow(installation_.topology(), settings_)) {
    machine.check_all_used();
  }

  sim::EngineOptions engine_options() const override {
    sim::EngineOptions options = installation_.engine_options(settings_, parameters_.prices);
    options.stack_room = BareNetwork::kStackRoom;
    return options;
  }
  std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<Modelled>(engine, installation_.topology(), links_, flow_of_puts_, settings_);
  }

 private:
  const Settings& settings_;
  Installation installation_;
  BareParameters parameters_;
  sim::FabricParameters links_;
  std::uint32_t flow_of_puts_;
};

}  // namespace
}  // namespace fabric

void register_fabric(Registry& registry) {
  using namespace fabric;
  ModelledEntry entry;
  entry.info = {.name = "fabric",
                .summary = "links and routers alone, for the kernel that measures the simulation itself",
                .conduits = {},
                .raw_options = link_options(),
                .raw = listed(raw::programs())};
  entry.parameters = {
      {"topology", "topology", "how nodes are connected"},
      {"ranks_per_node", "count", "ranks of a node"},
      software_time("host.post", "handing a put or fetch-and-add to the network interface"),
      software_time("host.poll_miss", "a poll that finds nothing"),
      {"link.bandwidth", "bandwidth", "one link, in one direction"},
      {"link.latency", "time", "one hop: router and wire"},
      {"link.buffer", "count", "packets held by one input and virtual channel"},
  };
  entry.make = [](const ModelledJob& job) -> std::unique_ptr<ModelledMachine> {
    return std::make_unique<Machine>(job, conduit::MachineValues("fabric", job.machine));
  };
  entry.header = 24;
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

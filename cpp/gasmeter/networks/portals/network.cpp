// Portals on SeaStar to the rest of the library: what it offers, options, parameters, raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/networks/installation.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/portals/invented_machine.hpp"
#include "gasmeter/networks/portals/portals_network.hpp"
#include "gasmeter/networks/portals/raw/programs.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace portals {
namespace {

using conduit::MachineValues;

const std::vector<OptionInfo>& options() {
  static const std::vector<OptionInfo> all = {
      {"mode",
       "choice",
       "generic",
       "",
       {"generic", "accelerated"},
       "what arrives is matched by a core of the host, which it interrupts, or by the card"},
      {"interrupts",
       "choice",
       "rank",
       "",
       {"rank", "other"},
       "whose core, with mode=generic: that of the rank it is for, or one that runs no rank"}};
  return all;
}

class Modelled final : public ModelledNetwork {
 public:
  Modelled(sim::Engine& engine, const sim::Topology& topology, const PortalsParameters& parameters,
           const Settings& settings)
      : engine_(engine), network_(engine, topology, parameters), settings_(settings) {}

  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(raw::programs(), {network_.portals(rank), engine_.host(rank), rank, engine_.ranks()},
                              settings_);
  }
  std::optional<std::vector<std::string>> idle_units() const override { return std::vector<std::string>{}; }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      const NiCounters& seen = network_.portals(Rank{rank}).counters();
      counts.add(Count::commands, seen.puts + seen.gets);
      counts.add(Count::held, seen.waited);
      counts.add(Count::drops, seen.drops);
      counts.add(Count::interrupts, seen.interrupts);
    }
  }
  sim::Fabric* fabric() override { return &network_.fabric(); }

 private:
  sim::Engine& engine_;
  PortalsNetwork network_;
  const Settings& settings_;
};

class Machine final : public ModelledMachine {
 public:
  Machine(const ModelledJob& job, MachineValues machine)
      : settings_(job.settings),
        installation_(machine, job),
        prices_(portals_prices(machine)),
        parameters_(portals_parameters(machine)) {
    machine.check_all_used();
    parameters_.mode = settings_.text("mode") == "accelerated" ? Mode::accelerated : Mode::generic;
    parameters_.other_core = settings_.text("interrupts") == "other";
  }

  sim::EngineOptions engine_options() const override { return installation_.engine_options(settings_, prices_); }
  std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<Modelled>(engine, installation_.topology(), parameters_, settings_);
  }

 private:
  const Settings& settings_;
  Installation installation_;
  conduit::HostPrices prices_;
  PortalsParameters parameters_;
};

std::vector<ParameterInfo> parameters() {
  // A card that is told by a system call: no stores of software into it, no reads out of it.
  static const std::vector<ParameterInfo> own = {
      software_time("host.interrupt", "of a core by a message that arrives"),
      software_time("host.match_step", "looking at one entry of a match list"),
      software_time("host.portals_call", "PtlPut or PtlGet: check and command to the card"),
      software_time("host.eq_empty", "looking into an event queue that holds none"),
      software_time("host.eq_event", "taking an event from its queue"),
      optional(software_time("host.md_create", "making a memory descriptor and ending it, whatever its length")),
      optional(software_time("host.md_page", "likewise, for each page")),
      {"link.bandwidth", "bandwidth", "one link, in one direction"},
      {"link.latency", "time", "one hop: router and wire"},
      {"link.buffer", "count", "packets held by one input and virtual channel"},
      {"nic.bandwidth", "bandwidth", "between card and host memory, each way"},
      {"nic.packet", "bytes", "payload of a packet, and what it takes of a link"},
      {"nic.header", "bytes", "the packet with a message's header, on the wire"},
      {"nic.inline", "bytes", "payload that rides in it"},
      {"nic.send", "time", "the firmware is busy with a message that leaves"},
      {"nic.receive", "time", "likewise, with one that arrives"},
      {"nic.ack", "time", "likewise, with an acknowledgement that it makes"},
      {"nic.dma_start", "time", "until a DMA moves its first byte"},
      {"nic.dma_slots", "count", "messages of one card that may be leaving; more wait"},
      {"mpi.eager", "size", "two-sided messages of more bytes are fetched by their receiver"},
      software_time("mpi.software", "a two-sided message at one side: request, match entry, handling of events"),
  };
  return joined({core_parameters(), kernel_parameters(), instruction_parameters(), optional_parameters(), own});
}

}  // namespace
}  // namespace portals

void register_portals(Registry& registry) {
  using namespace portals;
  ModelledEntry entry;
  entry.info = {.name = "portals",
                .summary = "Cray XT: Portals 3.3 on SeaStar cards, match lists, memory descriptors, event queues",
                .conduits = {},
                .raw_options = options(),
                .raw = listed(raw::programs())};
  entry.parameters = parameters();
  entry.service_options = options();
  entry.make = [](const ModelledJob& job) -> std::unique_ptr<ModelledMachine> {
    return std::make_unique<Machine>(job, MachineValues("portals", job.machine));
  };
  entry.invented = &invented_machine;
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

// Registration of HPS adapters with LAPI with the library: their offers, options, parameters and raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/installation.hpp"
#include "gasmeter/networks/lapi/invented_machine.hpp"
#include "gasmeter/networks/lapi/lapi_conduit.hpp"
#include "gasmeter/networks/lapi/lapi_network.hpp"
#include "gasmeter/networks/lapi/raw/programs.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace lapi {
namespace {

using conduit::MachineValues;

std::vector<OptionInfo> raw_options() {
  return {{"transfer",
           "choice",
           "rdma",
           "",
           {"rdma", "packets"},
           "puts and gets go from memory to memory, by the adapters alone, or through the FIFOs of both sides"}};
}

std::vector<OptionInfo> conduit_options() {
  std::vector<OptionInfo> all = {
      {"progress",
       "choice",
       "interrupt",
       "",
       {"poll", "interrupt"},
       "whether what comes interrupts a rank that computes, or waits until it polls"},
      {"rdma_from", "int", "0", "B", {}, "with transfer=rdma: shorter puts and gets go in packet mode"},
      {"pin_threshold",
       "int",
       "4096",
       "B",
       {},
       "in RDMA mode memory that is not registered is copied up to here, and registered above"},
      node_local_option("loop")};
  for (const OptionInfo& each : raw_options()) all.push_back(each);
  return all;
}

bool is_conduit(const Settings& settings) {
  return settings.options.count("progress") != 0;
}

Bytes size_option(const Settings& settings, const char* name, std::int64_t most) {
  const std::int64_t value = settings.integer(name);
  if (value < 0 || value > most) {
    throw UsageError("option '" + std::string(name) + "=" + settings.text(name) + "': allowed are 0 to " +
                     std::to_string(most));
  }
  return static_cast<Bytes>(value);
}

LapiOptions conduit_settings(const Settings& settings) {
  LapiOptions options;
  options.rdma = settings.text("transfer") == "rdma";
  if (!is_conduit(settings)) return options;
  options.rdma_from = size_option(settings, "rdma_from", std::int64_t{1} << 40U);
  options.pin_threshold = size_option(settings, "pin_threshold", std::int64_t{1} << 20U);
  return options;
}

Progress progress_of(const Settings& settings) {
  return is_conduit(settings) && settings.text("progress") == "interrupt" ? Progress::interrupt : Progress::poll;
}

class Modelled final : public ModelledNetwork {
 public:
  Modelled(sim::Engine& engine, const sim::Topology& topology, const LapiParameters& parameters,
           const Settings& settings)
      : engine_(engine),
        near_(engine.ranks()),
        options_(conduit_settings(settings)),
        network_(engine, topology, parameters, progress_of(settings)),
        settings_(settings) {}

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    return std::make_unique<LapiConduit>(network_.task(host.rank()), host, engine_.ranks(), options_,
                                         network_.progress() == Progress::interrupt,
                                         settings_.text("node_local") == "shared" ? &near_ : nullptr);
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(
        raw::programs(), {network_.task(rank), engine_.host(rank), rank, engine_.ranks(), options_.rdma}, settings_);
  }
  std::optional<std::vector<std::string>> idle_units() const override { return std::vector<std::string>{}; }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      const TaskCounters& seen = network_.task(Rank{rank}).counters();
      counts.add(Count::commands, seen.calls);
      counts.add(Count::refusals, seen.refused);
      counts.add(Count::acknowledgements, seen.acknowledgements);
      counts.add(Count::interrupts, seen.interrupts);
    }
  }
  sim::Fabric* fabric() override { return &network_.fabric(); }

 private:
  sim::Engine& engine_;
  services::AmBoxes near_;  // must outlive the bodies, which network_'s destructor cancels
  LapiOptions options_;
  LapiNetwork network_;
  const Settings& settings_;
};

class Machine final : public ModelledMachine {
 public:
  Machine(const ModelledJob& job, MachineValues machine)
      : settings_(job.settings),
        installation_(machine, job),
        prices_(lapi_prices(machine)),
        parameters_(lapi_parameters(machine)) {
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
  LapiParameters parameters_;
};

std::vector<ParameterInfo> parameters() {
  static const std::vector<ParameterInfo> device = {
      software_time("host.registration", "registering memory, for each handle"),
      software_time("host.registration_per_page", "registering memory, for each page"),
      software_time("host.deregistration", "undoing that, for each handle"),
      software_time("host.deregistration_per_page", "undoing that, for each page"),
      software_time("host.lapi_call", "LAPI's work to start a message, its first packet among it"),
      software_time("host.lapi_packet", "likewise for each further packet, and for each that has come"),
      software_time("host.header_handler", "what LAPI takes to start a header handler"),
      software_time("host.completion_handler", "what LAPI takes to start a completion handler"),
      software_time("host.interrupt", "of a rank that computes, by what comes"),
      {"link.bandwidth", "bandwidth", "one link, in one direction"},
      {"link.latency", "time", "one hop: switch chip and cable"},
      {"link.buffer", "count", "packets held by one input"},
      {"link.header", "bytes", "added to each packet on the wire: route, sequence, checksum"},
      {"link.mtu", "size", "largest payload of one packet"},
      {"adapter.packet", "time", "the adapter is busy with a packet, at either side"},
      {"adapter.latency", "time", "of a packet's way through the adapter, beside that"},
      {"adapter.bandwidth", "bandwidth", "between adapter and host memory, both directions together"},
      {"adapter.rdma_latency", "time", "what RDMA mode takes beside its packets"},
      {"adapter.handle", "size", "most memory of one registered handle"},
      {"task.send_fifo", "count", "packets of a task that its adapter has not read"},
      {"task.window", "count", "packets of one task that another has not taken"},
      {"task.rdma", "count", "transfers of a task in RDMA mode, under way"},
  };
  return joined({core_parameters(), kernel_parameters(), instruction_parameters(), optional_parameters(), device});
}

// The setups have the usual sizes, the other transfer mode, and sizes so small that some resource is short all the
// time.
std::vector<ConformanceSetup> conformance() {
  const std::vector<TrialPlan> trials = {{Trial::compared, {{2, 2}, {4, 2}, {5, 3, true}}},
                                         {Trial::third_refused, {{4, 2}}}};
  const std::vector<TrialPlan> fewer = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{4, 2}}}};
  return {{.name = "RDMA mode", .trials = trials},
          {.name = "packet mode, polled, short of room",
           .machine = "tight",
           .options = {{"transfer", "packets"}, {"progress", "poll"}},
           .trials = trials},
          {.name = "both modes, short of room, node mates through memory",
           .machine = "tight",
           .options = {{"rdma_from", "300"}, {"pin_threshold", "1000"}, {"node_local", "shared"}},
           .trials = fewer}};
}

// A message has at most three packets, and as many have to stay free for replies.
std::vector<TrialMachine> trial_machines() {
  return {{.name = "tight",
           .other = {{"task.send_fifo", 7.0},
                     {"task.window", 8.0},
                     {"task.rdma", 2.0},
                     {"link.mtu", 1024.0},
                     {"adapter.handle", 8192.0}}}};
}

}  // namespace
}  // namespace lapi

void register_lapi(Registry& registry) {
  using namespace lapi;
  ModelledEntry entry;
  entry.info = {.name = "lapi",
                .summary = "IBM HPS with LAPI: messages with header handlers, packet mode and RDMA mode",
                .conduits = {{"lapi",
                              "active messages by LAPI_Amsend, puts and gets in RDMA mode or packet mode, over "
                              "modelled HPS adapters",
                              conduit_options()}},
                .raw_options = raw_options(),
                .raw = listed(raw::programs())};
  entry.parameters = parameters();
  entry.make = [](const ModelledJob& job) -> std::unique_ptr<ModelledMachine> {
    return std::make_unique<Machine>(job, MachineValues("lapi", job.machine));
  };
  entry.invented = &invented_machine;
  entry.conformance = conformance();
  entry.trial_machines = trial_machines();
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

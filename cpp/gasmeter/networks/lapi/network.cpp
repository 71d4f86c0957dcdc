// Entry of network `lapi` in the registry: conduit, options, counters, parameters and raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/networks/card_machine.hpp"
#include "gasmeter/networks/lapi/lapi_conduit.hpp"
#include "gasmeter/networks/lapi/lapi_network.hpp"
#include "gasmeter/networks/lapi/raw/programs.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace lapi {
namespace {

struct Options {
  LapiOptions conduit;
  Progress progress = Progress::poll;
  bool near = false;
};

class Modelled final : public CardNetwork<LapiNetwork, LapiNumbers, Options, services::AmBoxes> {
 public:
  Modelled(sim::Engine& engine, const Setup& setup)
      : CardNetwork(engine, setup, setup.numbers.device, setup.options.progress) {}

  static OptionTable options(Options& o, Use use) {
    OptionTable table;
    if (use == Use::service) return table;
    table.choice("transfer", o.conduit.rdma, {{"rdma", true}, {"packets", false}},
                 "puts and gets go from memory to memory, by the adapters alone, or through the FIFOs of both sides");
    if (use == Use::raw) return table;
    o.progress = Progress::interrupt;
    table.choice("progress", o.progress, {{"poll", Progress::poll}, {"interrupt", Progress::interrupt}},
                 "whether what comes interrupts a rank that computes, or waits until it polls");
    table.integer("rdma_from", o.conduit.rdma_from, 0, std::int64_t{1} << 40U, "B",
                  "with transfer=rdma: shorter puts and gets go in packet mode");
    table.integer("pin_threshold", o.conduit.pin_threshold, 0, std::int64_t{1} << 20U, "B",
                  "in RDMA mode memory that is not registered is copied up to here, and registered above");
    table.node_local(o.near);
    return table;
  }

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    return std::make_unique<LapiConduit>(network_.task(host.rank()), host, engine_.ranks(), options_.conduit,
                                         network_.progress() == Progress::interrupt,
                                         options_.near ? &shared_ : nullptr);
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(raw::programs(),
                              {network_.task(rank), engine_.host(rank), rank, engine_.ranks(), options_.conduit.rdma},
                              settings_);
  }
  std::optional<std::vector<std::string>> idle_units() override { return std::vector<std::string>{}; }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    each_rank([&](Rank rank) {
      const TaskCounters& seen = network_.task(rank).counters();
      counts.add(Count::commands, seen.calls);
      counts.add(Count::refusals, seen.refused);
      counts.add(Count::acknowledgements, seen.acknowledgements);
      counts.add(Count::interrupts, seen.interrupts);
    });
  }
};

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
  ModelledEntry entry = described<Modelled>(
      {.name = "lapi",
       .summary = "IBM HPS with LAPI: messages with header handlers, packet mode and RDMA mode",
       .conduits = {{"lapi",
                     "active messages by LAPI_Amsend, puts and gets in RDMA mode or packet mode, over modelled HPS "
                     "adapters",
                     {}}},
       .raw_options = {},
       .raw = listed(raw::programs())});
  entry.conformance = conformance();
  entry.trial_machines = trial_machines();
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

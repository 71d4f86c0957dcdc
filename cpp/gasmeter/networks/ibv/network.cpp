// Registration of InfiniBand with the library: its offers, options, parameters and raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/networks/ibv/ibv_conduit.hpp"
#include "gasmeter/networks/ibv/ibv_messages.hpp"
#include "gasmeter/networks/ibv/ibv_network.hpp"
#include "gasmeter/networks/ibv/invented_machine.hpp"
#include "gasmeter/networks/ibv/raw/programs.hpp"
#include "gasmeter/networks/installation.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace ibv {
namespace {

using conduit::MachineValues;

struct Limits {
  IbvLimits conduit;
  IbvMessageLimits messages;
};

// The limits are as small as a message allows, plus one request. If there were 5, a call that may not wait would find
// none while grants of rings are in flight.
constexpr Limits kTight = {.conduit = {.peer_requests = 4,
                                       .all_requests = 6,
                                       .banked = 1,
                                       .peer_sends = 6,
                                       .all_sends = 7,
                                       .shared_receives = 2,
                                       .large_buffers = 2,
                                       .rings = {.peers = 2, .depth = 2, .cycle = 4}},
                           .messages = {.receives = 2, .all_sends = 3, .peer_sends = 2}};

class Modelled final : public ModelledNetwork {
 public:
  Modelled(sim::Engine& engine, const sim::Topology& topology, const IbvParameters& parameters, Bytes eager,
           const Limits& limits, const Settings& settings)
      : engine_(engine),
        near_(engine.ranks()),
        network_(engine, topology, parameters),
        eager_(eager),
        limits_(limits),
        settings_(settings) {}

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    has_conduit_ = true;
    IbvLimits limits = limits_.conduit;
    if (settings_.text("am_rings") == "off") limits.rings.peers = 0;
    const std::optional<conduit::PinLimits> pins = pin_limits(settings_);
    limits.pins_outside = pins.has_value();
    if (pins) limits.pins = *pins;
    return std::make_unique<IbvConduit>(network_.context(host.rank()), host, engine_.ranks(), limits,
                                        settings_.text("node_local") == "shared" ? &near_ : nullptr);
  }
  std::unique_ptr<services::MessageDevice> make_messages(Rank rank) override {
    return std::make_unique<IbvMessages>(network_.context(rank), engine_.host(rank), engine_.ranks(), eager_,
                                         limits_.messages);
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(
        raw::programs(),
        {network_.context(rank), engine_.host(rank), rank, engine_.ranks(), settings_.text("inline") == "on"},
        settings_);
  }
  std::optional<std::vector<std::string>> idle_units() const override { return std::vector<std::string>{}; }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      const ContextCounters& seen = network_.context(Rank{rank}).counters();
      counts.add(Count::commands, seen.posted);
      if (has_conduit_) counts.add(Count::ringed, seen.ringed);
      counts.add(Count::refusals, seen.refused);
      counts.add(Count::not_ready, seen.not_ready);
      counts.add(Count::retransmits, seen.sent_again);
    }
  }
  sim::Fabric* fabric() override { return &network_.fabric(); }

 private:
  sim::Engine& engine_;
  services::AmBoxes near_;  // must outlive the bodies, which network_'s destructor cancels
  IbvNetwork network_;
  Bytes eager_;  // the longest eager message
  Limits limits_;
  const Settings& settings_;
  bool has_conduit_ = false;
};

class Machine final : public ModelledMachine {
 public:
  Machine(const ModelledJob& job, MachineValues machine, const Limits& limits = {})
      : settings_(job.settings),
        limits_(limits),
        installation_(machine, job),
        prices_(conduit::host_prices(machine, kInstructions)),
        parameters_(ibv_parameters(machine, prices_[conduit::SharedPrice::pio_store].per_byte_fs)),
        matching_(services::matching_parameters(machine, prices_)) {
    // The price of every deregistration. Two-sided messages gave the key its name.
    prices_[conduit::SharedPrice::deregistration].fixed = machine.time("mpi.deregistration");
    machine.check_all_used();
  }

  sim::EngineOptions engine_options() const override { return installation_.engine_options(settings_, prices_); }
  std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<Modelled>(engine, installation_.topology(), parameters_, matching_.eager, limits_,
                                      settings_);
  }
  services::MatchingParameters matching() const override { return matching_; }

 private:
  const Settings& settings_;
  Limits limits_;
  Installation installation_;
  conduit::HostPrices prices_;
  IbvParameters parameters_;
  services::MatchingParameters matching_;
};

std::vector<ParameterInfo> parameters() {
  static const std::vector<ParameterInfo> device = {
      {"link.mtu", "size", "largest payload of one packet"},
      {"hca.send_pipeline", "time", "from the doorbell to the packet's first byte on the link"},
      {"hca.receive_pipeline", "time", "from the link to bytes that the host sees"},
      {"hca.queue_pair", "time", "a queue pair is busy with one work request"},
      {"hca.receive_completion", "time", "from a send's bytes at its target to the completion of its receive"},
      {"hca.host_read", "time", "a read of host memory by the adapter"},
      {"hca.descriptor", "size", "a work request as the host writes it"},
      {.key = "hca.inline_limit",
       .kind = "size",
       .summary = "payload that a work request may carry itself",
       .at_most = "link.mtu"},
      {"hca.not_ready_timer", "time", "until a send goes again that found no receive"},
  };
  static const std::vector<ParameterInfo> long_messages = {
      software_time("mpi.deregistration", "forgetting the memory that a long two-sided message was sent from"),
  };
  return joined({card_parameters(), device, matching_parameters(), long_messages});
}

// The setups have the limits of the time, and limits that are reached all the time.
std::vector<ConformanceSetup> conformance() {
  const std::vector<TrialPlan> trials = {{Trial::compared, {{2, 2}, {4, 2}, {5, 3, true}}},
                                         {Trial::third_refused, {{4, 2}}}};
  return {{.name = "usual limits", .trials = trials, .repeats = true},
          {.name = "tight limits", .machine = "tight", .trials = trials},
          {.name = "tight limits, no rings", .machine = "tight", .options = {{"am_rings", "off"}}, .trials = trials},
          {.name = "memory outside the segment is registered",
           .machine = "tight",
           .options = {{"registration", "cached"}, {"pinned_pages", "20"}},
           .trials = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{4, 2}}}}},
          {.name = "reference forms",
           .family = "ibv-reference",
           .machine = "tight",
           .options = in_reference_forms({{"registration", "cached"}, {"pinned_pages", "20"}}),
           .trials = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{5, 3, true}}}},
           .left_out = cases_of_refusals()},
          {.name = "node mates through memory",
           .options = {{"node_local", "shared"}},
           .trials = {{Trial::compared, {{3, 1}, {4, 2}}}, {Trial::third_refused, {{4, 2}}}}},
          {.name = "node mates through memory, tight limits",
           .machine = "tight",
           .options = {{"node_local", "shared"}},
           .trials = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{4, 2}}}},
           .repeats = true}};
}

std::vector<TrialMachine> trial_machines() {
  const auto with_inline_limit = [](double bytes) {
    return MachineNumbers{
        {"hca.inline_limit", bytes}, {"hca.not_ready_timer", 2e-6}, {"link.mtu", 1024.0}, {"mpi.eager", 1024.0}};
  };
  return {{.name = "usual",
           .other = with_inline_limit(128),
           .repeats = true,
           .under_services = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{4, 2}}}}},
          {.name = "tight",
           .other = with_inline_limit(16),
           .under_services = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{4, 2}, {3, 3}}}},
           .make = [](const ModelledJob& job) -> std::unique_ptr<ModelledMachine> {
             return std::make_unique<Machine>(job, MachineValues("ibv", job.machine), kTight);
           }}};
}

}  // namespace
}  // namespace ibv

void register_ibv(Registry& registry) {
  using namespace ibv;
  ModelledEntry entry;
  entry.info = {
      .name = "ibv",
      .summary = "InfiniBand verbs: queue pairs, sends, RDMA writes and reads",
      .conduits = {{"ibv",
                    "active messages by sends with credits and by RDMA into rings, put and get by RDMA, over modelled "
                    "InfiniBand adapters",
                    {{"am_rings",
                      "choice",
                      "on",
                      "",
                      {"on", "off"},
                      "on: a rank's hot peers write messages of up to 4080 B by RDMA into rings that it polls, as the "
                      "conduit of 2012 had it; off: all are sent"},
                     node_local_option("loop"),
                     registration_option("put and get of more than 4 KiB register memory outside the segment "
                                         "instead of copying it, and keep it registered"),
                     pinned_pages_option()}}},
      .raw_options =
          {{"inline",
            "choice",
            "on",
            "",
            {"on", "off"},
            "on: a work request carries what fits hca.inline_limit, as in perftest's latency tests; off: the "
            "adapter reads every payload from memory, as in OFED's example ibv_rc_pingpong"}},
      .raw = listed(raw::programs())};
  entry.parameters = parameters();
  entry.make = [](const ModelledJob& job) -> std::unique_ptr<ModelledMachine> {
    return std::make_unique<Machine>(job, conduit::MachineValues("ibv", job.machine));
  };
  entry.messages = "modelled InfiniBand adapters";
  entry.invented = &invented_machine;
  entry.conformance = conformance();
  entry.trial_machines = trial_machines();
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

// Registration of InfiniBand with the library: its offers, options, parameters and raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/networks/card_machine.hpp"
#include "gasmeter/networks/ibv/ibv_conduit.hpp"
#include "gasmeter/networks/ibv/ibv_messages.hpp"
#include "gasmeter/networks/ibv/ibv_network.hpp"
#include "gasmeter/networks/ibv/raw/programs.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace ibv {
namespace {

struct Options {
  IbvLimits limits;
  IbvMessageLimits messages;
  std::optional<conduit::PinLimits> pins;
  bool am_rings = true;
  bool near = false;
  bool inlined = true;
};

// The limits are as small as a message allows, plus one request. If there were 5, a call that may not wait would find
// none while grants of rings are in flight.
constexpr Options kTight = {.limits = {.peer_requests = 4,
                                       .all_requests = 6,
                                       .banked = 1,
                                       .peer_sends = 6,
                                       .all_sends = 7,
                                       .shared_receives = 2,
                                       .large_buffers = 2,
                                       .rings = {.peers = 2, .depth = 2, .cycle = 4}},
                            .messages = {.receives = 2, .all_sends = 3, .peer_sends = 2},
                            .pins = {}};

class Modelled final : public CardNetwork<IbvNetwork, IbvNumbers, Options, services::AmBoxes> {
 public:
  Modelled(sim::Engine& engine, const Setup& setup)
      : CardNetwork(engine, setup, setup.numbers.device), eager_(setup.numbers.matching.eager) {}

  static OptionTable options(Options& o, Use use) {
    OptionTable table;
    if (use == Use::raw) {
      table.choice("inline", o.inlined, {{"on", true}, {"off", false}},
                   "on: a work request carries what fits hca.inline_limit, as in perftest's latency tests; off: the "
                   "adapter reads every payload from memory, as in OFED's example ibv_rc_pingpong");
    }
    if (use == Use::conduit) {
      table.choice("am_rings", o.am_rings, {{"on", true}, {"off", false}},
                   "on: a rank's hot peers write messages of up to 4080 B by RDMA into rings that it polls, as the "
                   "conduit of 2012 had it; off: all are sent");
      table.node_local(o.near);
      table.registration(o.pins,
                         "put and get of more than 4 KiB register memory outside the segment instead of copying it, "
                         "and keep it registered");
    }
    return table;
  }
  static void complete(Setup& setup) {
    auto& [settings, topology, numbers, options] = setup;
    if (!options.am_rings) options.limits.rings.peers = 0;
    options.limits.pins_outside = options.pins.has_value();
    if (options.pins) options.limits.pins = *options.pins;
  }

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    has_conduit_ = true;
    return std::make_unique<IbvConduit>(network_.context(host.rank()), host, engine_.ranks(), options_.limits,
                                        options_.near ? &shared_ : nullptr);
  }
  std::unique_ptr<services::MessageDevice> make_messages(Rank rank) override {
    return std::make_unique<IbvMessages>(network_.context(rank), engine_.host(rank), engine_.ranks(), eager_,
                                         options_.messages);
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(raw::programs(),
                              {network_.context(rank), engine_.host(rank), rank, engine_.ranks(), options_.inlined},
                              settings_);
  }
  std::optional<std::vector<std::string>> idle_units() override { return std::vector<std::string>{}; }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    each_rank([&](Rank rank) {
      const ContextCounters& seen = network_.context(rank).counters();
      counts.add(Count::commands, seen.posted);
      if (has_conduit_) counts.add(Count::ringed, seen.ringed);
      counts.add(Count::refusals, seen.refused);
      counts.add(Count::not_ready, seen.not_ready);
      counts.add(Count::retransmits, seen.sent_again);
    });
  }

 private:
  Bytes eager_;  // the longest eager message
  bool has_conduit_ = false;
};

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
             return std::make_unique<CardMachine<Modelled>>(job, kTight);
           }}};
}

}  // namespace
}  // namespace ibv

void register_ibv(Registry& registry) {
  using namespace ibv;
  ModelledEntry entry = described<Modelled>(
      {.name = "ibv",
       .summary = "InfiniBand verbs: queue pairs, sends, RDMA writes and reads",
       .conduits = {{"ibv",
                     "active messages by sends with credits and by RDMA into rings, put and get by RDMA, over modelled "
                     "InfiniBand adapters",
                     {}}},
       .raw_options = {},
       .raw = listed(raw::programs())});
  entry.messages = "modelled InfiniBand adapters";
  entry.conformance = conformance();
  entry.trial_machines = trial_machines();
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

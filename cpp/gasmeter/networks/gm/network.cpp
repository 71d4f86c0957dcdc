// Registration of Myrinet with GM with the library: its offers, options, parameters and raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/card_machine.hpp"
#include "gasmeter/networks/gm/gm_conduit.hpp"
#include "gasmeter/networks/gm/gm_network.hpp"
#include "gasmeter/networks/gm/raw/programs.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace gm {
namespace {

struct Options {
  GmLimits limits;
  std::optional<bool> directed_puts;  // empty: as the machine has it
  std::optional<bool> gets;
  std::optional<conduit::PinLimits> pins = conduit::PinLimits{};
  bool near = false;
};

class Modelled final : public CardNetwork<GmNetwork, GmNumbers, Options, services::AmBoxes> {
 public:
  Modelled(sim::Engine& engine, const Setup& setup) : CardNetwork(engine, setup, setup.numbers.device) {}

  // `machine`, the default, is what programs of the time did: GM 1 has no gets, and its conduits sent messages.
  static OptionTable options(Options& o, Use use) {
    OptionTable table;
    if (use != Use::conduit) return table;
    table.integer("bounce_limit", o.limits.copied, 0, kAmBuffer, "B",
                  "with registration=cached: transfers of outside memory of no more bytes are copied by a buffer: 0 to "
                  "65536",
                  "0 to 65536 are allowed");
    table.choice("get", o.gets, {{"machine", std::nullopt}, {"messages", false}, {"rdma", true}},
                 "gets are active messages that are answered, or done by the target's card (GM 2); machine: rdma where "
                 "the machine has it");
    table.node_local(o.near);
    table.choice("progress", o.limits.interrupts, {{"poll", false}, {"interrupt", true}},
                 "messages that come while a rank computes wait for its next poll, or interrupt it for host.interrupt");
    table.choice("put", o.directed_puts, {{"machine", std::nullopt}, {"messages", false}, {"directed", true}},
                 "puts are active messages that are answered, or directed sends that the target's software does not "
                 "see; machine: directed where the machine has rdma");
    table.registration(o.pins,
                       "put=directed and get=rdma register memory outside the segment, and keep it registered; none: "
                       "they copy all of it");
    return table;
  }
  static void complete(Setup& setup) {
    auto& [settings, topology, numbers, options] = setup;
    const bool has_gets = numbers.device.gets;
    if (options.gets.value_or(false) && !has_gets) {
      throw UsageError(
          "option 'get=rdma': GM 1 has no gets; a machine with port.gm_version 2 is needed (gm-marenostrum)");
    }
    options.limits.directed_puts = options.directed_puts.value_or(has_gets);
    options.limits.gets = options.gets.value_or(has_gets);
    options.limits.pins = numbers.pins;
    options.limits.registers = options.pins.has_value();
    if (options.pins) options.limits.pinned_pages = options.pins->pages;
  }

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    return std::make_unique<GmConduit>(network_.port(host.rank()), host, engine_.ranks(), options_.limits,
                                       options_.near ? &shared_ : nullptr);
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(raw::programs(), {network_.port(rank), engine_.host(rank), rank, engine_.ranks()},
                              settings_);
  }
  std::optional<std::vector<std::string>> idle_units() override { return std::vector<std::string>{}; }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    each_rank([&](Rank rank) {
      const PortCounters& seen = network_.port(rank).counters();
      counts.add(Count::commands, seen.sends);
      counts.add(Count::refusals, seen.refused);
      counts.add(Count::not_ready, seen.no_receive);
      counts.add(Count::retransmits, seen.sent_again);
      if (network_.parameters().interrupt) counts.add(Count::interrupts, seen.interrupts);
    });
  }
};

// The setups have as many tokens as ports had, and so few that they are short all the time.
std::vector<ConformanceSetup> conformance() {
  const std::vector<TrialPlan> trials = {{Trial::compared, {{2, 2}, {4, 2}, {5, 3, true}}},
                                         {Trial::third_refused, {{4, 2}}}};
  const std::vector<TrialPlan> fewer = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{4, 2}}}};
  return {{.name = "usual tokens", .trials = trials, .repeats = true},
          {.name = "few tokens", .machine = "tight", .trials = trials},
          {.name = "puts and gets by the cards", .machine = "GM 2", .trials = trials},
          {.name = "puts and gets by the cards, few tokens, little memory",
           .machine = "tight GM 2",
           .options = {{"pinned_pages", "20"}, {"bounce_limit", "64"}},
           .trials = trials},
          {.name = "outside memory is copied, puts are messages",
           .machine = "GM 2",
           .options = {{"put", "messages"}, {"registration", "none"}},
           .trials = fewer},
          {.name = "directed puts of GM 1", .options = {{"put", "directed"}}, .trials = fewer},
          {.name = "what comes interrupts who computes",
           .machine = "GM 2",
           .options = {{"progress", "interrupt"}},
           .trials = fewer},
          {.name = "reference forms",
           .family = "gm-reference",
           .machine = "tight GM 2",
           .options = in_reference_forms({{"pinned_pages", "20"}}),
           .trials = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{5, 3, true}}}},
           .left_out = cases_of_refusals()},
          {.name = "node mates through memory",
           .options = {{"node_local", "shared"}},
           .trials = {{Trial::compared, {{3, 1}, {4, 2}}}, {Trial::third_refused, {{4, 2}}}}},
          {.name = "node mates through memory, few tokens",
           .machine = "tight",
           .options = {{"node_local", "shared"}},
           .trials = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{4, 2}}}},
           .repeats = true}};
}

// GmConduit reserves two of the 7 send tokens for replies. The other five let three Shorts leave before their target
// polls: cases of the conformance suite send as many (send_up_to_three).
std::vector<TrialMachine> trial_machines() {
  const MachineNumbers few = {
      {"port.send_tokens", 7.0}, {"port.receive_tokens", 2.0}, {"port.hold_timer", 5e-6}, {"link.mtu", 512.0}};
  const MachineNumbers gm2 = {{"port.gm_version", 2.0},
                              {"host.deregistration", 60e-6},
                              {"host.deregistration_per_page", 2e-6},
                              {"host.interrupt", 15e-6}};
  MachineNumbers both = few;
  both.insert(gm2.begin(), gm2.end());
  return {{.name = "usual", .repeats = true},
          {.name = "tight", .other = few},
          {.name = "GM 2", .other = gm2},
          {.name = "tight GM 2", .other = both}};
}

}  // namespace
}  // namespace gm

void register_gm(Registry& registry) {
  using namespace gm;
  ModelledEntry entry = described<Modelled>(
      {.name = "gm",
       .summary = "Myrinet with GM: ports with tokens, messages by size class, directed sends",
       .conduits = {{"gm",
                     "active messages by GM messages between registered buffers, long payloads by directed sends, over "
                     "modelled Myrinet cards",
                     {}}},
       .raw_options = {},
       .raw = listed(raw::programs())});
  entry.conformance = conformance();
  entry.trial_machines = trial_machines();
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

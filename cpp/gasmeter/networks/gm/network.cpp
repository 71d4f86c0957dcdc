// Registration of Myrinet with GM with the library: its offers, options, parameters and raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
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

// `machine`, the default, is what programs of the time did: GM 1 has no gets, and its conduits sent messages.
std::vector<OptionInfo> conduit_options() {
  OptionInfo registration = registration_option(
      "put=directed and get=rdma register memory outside the segment, and keep it registered; none: they copy all of "
      "it");
  registration.default_value = "cached";
  return {{"bounce_limit",
           "int",
           "8192",
           "B",
           {},
           "with registration=cached: transfers of outside memory of no more bytes are copied by a buffer: 0 to 65536"},
          {"get",
           "choice",
           "machine",
           "",
           {"machine", "messages", "rdma"},
           "gets are active messages that are answered, or done by the target's card (GM 2); machine: rdma where the "
           "machine has it"},
          node_local_option("loop"),
          pinned_pages_option(),
          {"progress",
           "choice",
           "poll",
           "",
           {"poll", "interrupt"},
           "messages that come while a rank computes wait for its next poll, or interrupt it for host.interrupt"},
          {"put",
           "choice",
           "machine",
           "",
           {"machine", "messages", "directed"},
           "puts are active messages that are answered, or directed sends that the target's software does not see; "
           "machine: directed where the machine has rdma"},
          registration};
}

// `pins`: the machine states the price of a deregistration.
GmLimits conduit_limits(const Settings& settings, bool has_gets, bool pins) {
  GmLimits limits;
  const std::string put = settings.text("put");
  const std::string get = settings.text("get");
  if (get == "rdma" && !has_gets) {
    throw UsageError(
        "option 'get=rdma': GM 1 has no gets; a machine with port.gm_version 2 is needed (gm-marenostrum)");
  }
  limits.directed_puts = put == "machine" ? has_gets : put == "directed";
  limits.gets = get == "machine" ? has_gets : get == "rdma";
  limits.interrupts = settings.text("progress") == "interrupt";
  limits.pins = pins;
  const std::optional<conduit::PinLimits> registered = pin_limits(settings);
  limits.registers = registered.has_value();
  if (registered) limits.pinned_pages = registered->pages;
  const std::int64_t copied = settings.integer("bounce_limit");
  if (copied < 0 || copied > static_cast<std::int64_t>(kAmBuffer)) {
    throw UsageError("option 'bounce_limit=" + std::to_string(copied) + "': 0 to " + std::to_string(kAmBuffer) +
                     " are allowed");
  }
  limits.copied = static_cast<Bytes>(copied);
  return limits;
}

class Modelled final : public ModelledNetwork {
 public:
  Modelled(sim::Engine& engine, const sim::Topology& topology, const GmParameters& parameters, bool pins,
           const Settings& settings)
      : engine_(engine),
        near_(engine.ranks()),
        network_(engine, topology, parameters),
        pins_(pins),
        settings_(settings) {}

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    return std::make_unique<GmConduit>(network_.port(host.rank()), host, engine_.ranks(),
                                       conduit_limits(settings_, parameters().gets, pins_),
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
      if (parameters().interrupt) counts.add(Count::interrupts, seen.interrupts);
    }
  }
  sim::Fabric* fabric() override { return &network_.fabric(); }

 private:
  [[nodiscard]] const GmParameters& parameters() const { return network_.parameters(); }

  sim::Engine& engine_;
  services::AmBoxes near_;  // must outlive the bodies, which network_'s destructor cancels
  GmNetwork network_;
  bool pins_;
  const Settings& settings_;
};

class Machine final : public ModelledMachine {
 public:
  Machine(const ModelledJob& job, MachineValues machine)
      : settings_(job.settings),
        installation_(machine, job),
        prices_(conduit::host_prices(machine, kInstructions)),
        parameters_(gm_parameters(machine)),
        pins_(machine.states("host.deregistration")) {
    if (pins_) {
      prices_[conduit::SharedPrice::deregistration] =
          conduit::page_price(machine, "host.deregistration", "host.deregistration_per_page");
    }
    machine.check_all_used();
  }

  sim::EngineOptions engine_options() const override { return installation_.engine_options(settings_, prices_); }
  std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<Modelled>(engine, installation_.topology(), parameters_, pins_, settings_);
  }

 private:
  const Settings& settings_;
  Installation installation_;
  conduit::HostPrices prices_;
  GmParameters parameters_;
  bool pins_;
};

std::vector<ParameterInfo> parameters() {
  static const std::vector<ParameterInfo> device = {
      {"link.mtu", "size", "largest payload of one packet"},
      {"lanai.packet", "time", "the card's processor is busy with a packet of data, at either side"},
      {"lanai.directed", "time", "likewise at the target, with one of a directed send"},
      {"lanai.acknowledgement", "time", "likewise at either side, with an answer of the card's own"},
      {"lanai.dma_start", "time", "until a DMA of the card moves its first byte"},
      {"lanai.descriptor", "size", "a send or a receive as software stores it into the card"},
      {"pci.bandwidth", "bandwidth", "DMA between card and host memory, both directions together"},
      {"port.send_tokens", "count", "sends that a port may have under way"},
      {"port.receive_tokens", "count", "receives that a port may have provided"},
      optional({"port.gm_version", "count", "2: cards answer gets by themselves; not stated: 1, which has none"}),
      {"port.hold_timer", "time", "until a message goes again that found no receive"},
      optional(software_time("host.deregistration", "giving registered memory back, whatever its length")),
      optional(software_time("host.deregistration_per_page", "giving registered memory back, for each page")),
      optional({"host.dmaable_memory", "size", "that a node may have registered; not stated: all of it"}),
      optional(software_time("host.interrupt", "of a core that computes by what comes (progress=interrupt)")),
      software_time("host.gm_send", "what GM's library does for a send, beside the store into the card"),
      software_time("host.gm_receive", "likewise for a message that has come, beside looking and providing"),
  };
  return joined({card_parameters(), device});
}

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

// A rank keeps two of these sends for replies. Three requests have to leave before any rank takes them.
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
  ModelledEntry entry;
  entry.info = {.name = "gm",
                .summary = "Myrinet with GM: ports with tokens, messages by size class, directed sends",
                .conduits = {{"gm",
                              "active messages by GM messages between registered buffers, long payloads by directed "
                              "sends, over modelled Myrinet cards",
                              conduit_options()}},
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

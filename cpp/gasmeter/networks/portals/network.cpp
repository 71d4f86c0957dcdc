// Registration of Portals on SeaStar with the library: its offers, options, parameters and raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/installation.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/portals/hybrid_conduit.hpp"
#include "gasmeter/networks/portals/invented_machine.hpp"
#include "gasmeter/networks/portals/portals_conduit.hpp"
#include "gasmeter/networks/portals/portals_mpi.hpp"
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

std::vector<OptionInfo> conduit_options() {
  std::vector<OptionInfo> all = {
      {"stage",
       "choice",
       "native",
       "",
       {"native", "hybrid"},
       "hybrid: as first released: active messages by AMMPI over MPI on Portals, puts and gets by Portals; native: all "
       "by Portals"},
      {"registration",
       "choice",
       "firehose",
       "",
       {"firehose", "tmpmd"},
       "memory outside the segment: firehose: descriptors of regions, which stay for the next transfer; tmpmd: one is "
       "made for each transfer, and ended with it"},
      {"bounce_limit",
       "int",
       "-1",
       "B",
       {},
       "transfers of memory outside the segment of no more bytes are copied by a buffer: 0 to 2048; -1: 0 with "
       "firehose, 2048 with tmpmd, 1024 where nothing has to be pinned"},
      {"credits",
       "choice",
       "dynamic",
       "",
       {"dynamic", "static"},
       "how many requests a rank may have under way to another: static: as many to each, for ever; dynamic: who misses "
       "credits is lent some, and who does not use its loans is asked for them"},
      {"credits_per_peer",
       "int",
       "8",
       "credits",
       {},
       "to each rank, at first or for ever; 256 B of request buffers and an event each: 8 to 65535"},
      {"request_buffers", "choice", "2", "buffers", {"2", "3"}, "that requests come to in turn"},
      {"request_memory",
       "int",
       "0",
       "B",
       {},
       "of all request buffers; 0: what credits_per_peer needs, with credits=dynamic 400 credits more"},
      {"send_tokens", "int", "250", "operations", {}, "of Portals that a rank may have under way: 8 to 65535"}};
  for (const OptionInfo& each : options()) all.push_back(each);
  return all;
}

std::int64_t number(const Settings& settings, const char* name, std::int64_t least, std::int64_t most) {
  const std::int64_t value = settings.integer(name);
  if (value < least || value > most) {
    throw UsageError("option '" + std::string(name) + "=" + settings.text(name) + "': allowed are " +
                     std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

// `pins`: a descriptor costs time.
PortalsOptions conduit_settings(const Settings& settings, bool pins) {
  PortalsOptions options;
  if (settings.options.count("credits_per_peer") == 0) return options;  // programs without a conduit
  const bool temporary = settings.text("registration") == "tmpmd";
  options.registration = temporary ? Registration::temporary : Registration::firehose;
  const std::int64_t bounce_limit = number(settings, "bounce_limit", -1, kChunk);
  options.bounce_limit = static_cast<Bytes>(bounce_limit);
  if (bounce_limit < 0) options.bounce_limit = !pins ? kChunk / 2 : temporary ? kChunk : 0;
  options.dynamic = settings.text("credits") == "dynamic";
  options.credits_per_peer = static_cast<std::uint32_t>(number(settings, "credits_per_peer", 8, 65535));
  options.request_buffers = settings.text("request_buffers") == "3" ? 3 : 2;
  options.request_memory = static_cast<Bytes>(number(settings, "request_memory", 0, std::int64_t{1} << 40U));
  options.send_tokens = static_cast<std::uint32_t>(number(settings, "send_tokens", 8, 65535));
  return options;
}

// Sizes that make MPI use its buffers up and provide them again all the time.
constexpr PortalsMpiSizes kScarce = {
    .overflow_buffers = 3, .overflow_buffer = 65536, .unexpected_events = 1024, .own_events = 1024, .most_sends = 32};

class Modelled final : public ModelledNetwork {
 public:
  Modelled(sim::Engine& engine, const sim::Topology& topology, const PortalsParameters& parameters,
           const PortalsOptions& options, const PortalsMpiSizes& messages, const Settings& settings)
      : engine_(engine),
        bases_(engine.ranks()),
        network_(engine, topology, parameters),
        messages_(messages),
        options_(options),
        settings_(settings) {}

  std::unique_ptr<services::TwoSidedService> make_two_sided(Rank rank) override {
    return std::make_unique<PortalsMpi>(network_.portals(rank), engine_.host(rank), messages_);
  }

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    Portals& portals = network_.portals(host.rank());
    if (settings_.text("stage") == "native") {
      return std::make_unique<PortalsConduit>(portals, host, engine_.ranks(), options_, bases_);
    }
    auto conduit = std::make_unique<HybridConduit>(portals, host, engine_.ranks(), options_, messages_, bases_);
    hybrids_.resize(engine_.ranks());
    hybrids_[index(host.rank())] = conduit.get();
    return conduit;
  }
  void settle(Rank rank) override {
    if (hybrids_.empty()) return;
    TwoSidedConduit& messages = hybrids_[index(rank)]->messages();
    sim::ModelHost host = engine_.host(rank);
    for (messages.serve(); !messages.is_quiet(); messages.serve()) host.idle(kNever);
  }
  void serve(Rank rank) override {
    if (!hybrids_.empty()) hybrids_[index(rank)]->messages().serve();
  }
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
  SegmentBases bases_;  // must outlive the bodies, which network_'s destructor cancels
  PortalsNetwork network_;
  PortalsMpiSizes messages_;
  PortalsOptions options_;
  const Settings& settings_;
  std::vector<HybridConduit*> hybrids_;  // by rank; empty: no rank has a hybrid conduit
};

class Machine final : public ModelledMachine {
 public:
  Machine(const ModelledJob& job, MachineValues machine, const PortalsMpiSizes& messages = {})
      : settings_(job.settings),
        installation_(machine, job),
        prices_(portals_prices(machine)),
        parameters_(portals_parameters(machine)),
        messages_(messages),
        options_(conduit_settings(settings_, !prices_[conduit::SharedPrice::registration].is_none())) {
    machine.check_all_used();
    (void)request_room(options_, job.settings.ranks);
    // An element of the library's own list costs as much as an entry of Portals' list.
    prices_[conduit::PrivatePrice::two_sided].fixed = parameters_.mpi_software;
    prices_[conduit::PrivatePrice::match].per_byte_fs = parameters_.match_step.ps * 1000;
    parameters_.mode = settings_.text("mode") == "accelerated" ? Mode::accelerated : Mode::generic;
    parameters_.other_core = settings_.text("interrupts") == "other";
  }

  sim::EngineOptions engine_options() const override { return installation_.engine_options(settings_, prices_); }
  std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<Modelled>(engine, installation_.topology(), parameters_, options_, messages_, settings_);
  }

 private:
  const Settings& settings_;
  Installation installation_;
  conduit::HostPrices prices_;
  PortalsParameters parameters_;
  PortalsMpiSizes messages_;
  PortalsOptions options_;
};

std::vector<ParameterInfo> parameters() {
  // Commands reach the card by a system call. Software makes no stores to the card and no reads of it.
  static const std::vector<ParameterInfo> device = {
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
  return joined({core_parameters(), kernel_parameters(), instruction_parameters(), optional_parameters(), device});
}

// The setups have the usual sizes, and sizes so small that some resource is short all the time.
std::vector<ConformanceSetup> conformance() {
  const std::vector<TrialPlan> trials = {{Trial::compared, {{2, 2}, {4, 2}, {5, 3, true}}},
                                         {Trial::third_refused, {{4, 2}}}};
  const std::vector<TrialPlan> fewer = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{4, 2}}}};
  // A program that fills a queue without polling has to find a credit. The answer to an earlier request may not have
  // been seen.
  const std::vector<std::string> of_more_credits = {"full_rings_refuse_and_nothing_is_polled",
                                                    "immediate_prepares_are_refused_and_nothing_is_polled"};
  return {{.name = "usual", .options = {{"credits_per_peer", "24"}}, .trials = trials},
          {.name = "few tokens, credits that stay, three buffers",
           .options = {{"send_tokens", "8"}, {"credits", "static"}, {"request_buffers", "3"}},
           .trials = trials,
           .left_out = of_more_credits},
          {.name = "descriptors for each transfer, credits that are lent from almost nothing",
           .options = {{"registration", "tmpmd"}, {"request_memory", "114688"}, {"credits_per_peer", "9"}},
           .trials = fewer,
           .left_out = of_more_credits},
          {.name = "first stage", .options = {{"stage", "hybrid"}}, .trials = trials},
          {.name = "cards that match, everything by buffers",
           .options = {{"mode", "accelerated"}, {"bounce_limit", "2048"}},
           .trials = fewer,
           .left_out = of_more_credits}};
}

std::vector<TrialMachine> trial_machines() {
  return {{.name = "scarce",
           .other = {{"mpi.eager", 1024.0}},
           .under_services = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{4, 2}, {3, 3}}}},
           .make = [](const ModelledJob& job) -> std::unique_ptr<ModelledMachine> {
             return std::make_unique<Machine>(job, MachineValues("portals", job.machine), kScarce);
           }}};
}

}  // namespace
}  // namespace portals

void register_portals(Registry& registry) {
  using namespace portals;
  ModelledEntry entry;
  entry.info = {.name = "portals",
                .summary = "Cray XT: Portals 3.3 on SeaStar cards, match lists, memory descriptors, event queues",
                .conduits = {{"portals",
                              "puts and gets by Portals, active messages by puts into buffers that their receiver's "
                              "table manages, with credits, over modelled SeaStar cards",
                              conduit_options()}},
                .raw_options = options(),
                .raw = listed(raw::programs())};
  entry.parameters = parameters();
  entry.service_options = options();
  entry.make = [](const ModelledJob& job) -> std::unique_ptr<ModelledMachine> {
    return std::make_unique<Machine>(job, MachineValues("portals", job.machine));
  };
  entry.messages = "match lists of modelled SeaStar cards";
  entry.matches = true;
  entry.invented = &invented_machine;
  entry.conformance = conformance();
  entry.trial_machines = trial_machines();
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

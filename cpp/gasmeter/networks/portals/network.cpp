// Registration of Portals on SeaStar with the library: its offers, options, parameters and raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/networks/card_machine.hpp"
#include "gasmeter/networks/portals/hybrid_conduit.hpp"
#include "gasmeter/networks/portals/portals_conduit.hpp"
#include "gasmeter/networks/portals/portals_mpi.hpp"
#include "gasmeter/networks/portals/portals_network.hpp"
#include "gasmeter/networks/portals/raw/programs.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace portals {
namespace {

struct Options {
  PortalsOptions conduit = {};
  std::int64_t bounce_limit = -1;
  bool native = true;
  Mode mode = Mode::generic;
  bool other_core = false;
  PortalsMpiSizes messages = {};
};

// Sizes that make MPI use its buffers up and provide them again all the time.
constexpr PortalsMpiSizes kScarce = {
    .overflow_buffers = 3, .overflow_buffer = 65536, .unexpected_events = 1024, .own_events = 1024, .most_sends = 32};

class Modelled final : public CardNetwork<PortalsNetwork, PortalsNumbers, Options, SegmentBases> {
 public:
  Modelled(sim::Engine& engine, const Setup& setup) : CardNetwork(engine, setup, setup.numbers.device) {}

  static OptionTable options(Options& o, Use use) {
    OptionTable table;
    table.choice("mode", o.mode, {{"generic", Mode::generic}, {"accelerated", Mode::accelerated}},
                 "what arrives is matched by a core of the host, which it interrupts, or by the card");
    table.choice("interrupts", o.other_core, {{"rank", false}, {"other", true}},
                 "whose core, with mode=generic: that of the rank it is for, or one that runs no rank");
    if (use != Use::conduit) return table;
    PortalsOptions& c = o.conduit;
    table.choice("stage", o.native, {{"native", true}, {"hybrid", false}},
                 "hybrid: as first released: active messages by AMMPI over MPI on Portals, puts and gets by Portals; "
                 "native: all by Portals");
    table.choice("registration", c.registration,
                 {{"firehose", Registration::firehose}, {"tmpmd", Registration::temporary}},
                 "memory outside the segment: firehose: descriptors of regions, which stay for the next transfer; "
                 "tmpmd: one is made for each transfer, and ended with it");
    table.integer("bounce_limit", o.bounce_limit, -1, kChunk, "B",
                  "transfers of memory outside the segment of no more bytes are copied by a buffer: 0 to 2048; -1: 0 "
                  "with firehose, 2048 with tmpmd, 1024 where nothing has to be pinned");
    table.choice("credits", c.dynamic, {{"dynamic", true}, {"static", false}},
                 "how many requests a rank may have under way to another: static: as many to each, for ever; dynamic: "
                 "who misses credits is lent some, and who does not use its loans is asked for them");
    table.integer("credits_per_peer", c.credits_per_peer, 8, 65535, "credits",
                  "to each rank, at first or for ever; 256 B of request buffers and an event each: 8 to 65535");
    table.choice("request_buffers", c.request_buffers, {{"2", 2}, {"3", 3}}, "that requests come to in turn",
                 "buffers");
    table.integer("request_memory", c.request_memory, 0, std::int64_t{1} << 40U, "B",
                  "of all request buffers; 0: what credits_per_peer needs, with credits=dynamic 400 credits more");
    table.integer("send_tokens", c.send_tokens, 8, 65535, "operations",
                  "of Portals that a rank may have under way: 8 to 65535");
    return table;
  }
  static void complete(Setup& setup) {
    auto& [settings, topology, numbers, options] = setup;
    const bool pins = !numbers.prices[conduit::SharedPrice::registration].is_none();
    const bool is_temporary = options.conduit.registration == Registration::temporary;
    if (options.bounce_limit < 0) options.bounce_limit = !pins ? kChunk / 2 : is_temporary ? kChunk : 0;
    options.conduit.bounce_limit = static_cast<Bytes>(options.bounce_limit);
    (void)request_room(options.conduit, settings.ranks);
    numbers.device.mode = options.mode;
    numbers.device.other_core = options.other_core;
  }

  std::unique_ptr<services::TwoSidedService> make_two_sided(Rank rank) override {
    return std::make_unique<PortalsMpi>(network_.portals(rank), engine_.host(rank), options_.messages);
  }

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    Portals& portals = network_.portals(host.rank());
    if (options_.native) {
      return std::make_unique<PortalsConduit>(portals, host, engine_.ranks(), options_.conduit, shared_);
    }
    auto conduit =
        std::make_unique<HybridConduit>(portals, host, engine_.ranks(), options_.conduit, options_.messages, shared_);
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
  std::optional<std::vector<std::string>> idle_units() override { return std::vector<std::string>{}; }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    each_rank([&](Rank rank) {
      const NiCounters& seen = network_.portals(rank).counters();
      counts.add(Count::commands, seen.puts + seen.gets);
      counts.add(Count::held, seen.waited);
      counts.add(Count::drops, seen.drops);
      counts.add(Count::interrupts, seen.interrupts);
    });
  }

 private:
  std::vector<HybridConduit*> hybrids_;  // by rank; empty: no rank has a hybrid conduit
};

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
             return std::make_unique<CardMachine<Modelled>>(job, Options{.messages = kScarce});
           }}};
}

}  // namespace
}  // namespace portals

void register_portals(Registry& registry) {
  using namespace portals;
  ModelledEntry entry = described<Modelled>(
      {.name = "portals",
       .summary = "Cray XT: Portals 3.3 on SeaStar cards, match lists, memory descriptors, event queues",
       .conduits = {{"portals",
                     "puts and gets by Portals, active messages by puts into buffers that their receiver's table "
                     "manages, with credits, over modelled SeaStar cards",
                     {}}},
       .raw_options = {},
       .raw = listed(raw::programs())});
  entry.messages = "match lists of modelled SeaStar cards";
  entry.matches = true;
  entry.conformance = conformance();
  entry.trial_machines = trial_machines();
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

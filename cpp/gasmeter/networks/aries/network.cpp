// Registration of uGNI on Aries with the library: its offers, options, parameters and raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/aries/aries_conduit.hpp"
#include "gasmeter/networks/aries/aries_messages.hpp"
#include "gasmeter/networks/aries/aries_network.hpp"
#include "gasmeter/networks/aries/raw/programs.hpp"
#include "gasmeter/networks/card_machine.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace aries {
namespace {

struct Options {
  AriesOptions conduit = {};
  AriesMessageLimits messages = {};
  bool shared_fma = false;
  Bytes grain = 1024;
  bool adaptive = false;
  raw::Engine engine = raw::Engine::automatic;
};

// Few blocks and mailboxes of two make sends wait.
constexpr AriesMessageLimits kScarce{.mailbox = 2, .sends = 3, .puts = 1};

// State of a job, made when its first rank needs it.
struct JobState {
  explicit JobState(unsigned /*ranks*/) {}

  raw::Boxes boxes;
  std::optional<JobMemory> conduits;
  std::optional<Mailboxes> mailboxes;  // of two-sided messages
};

class Modelled final : public CardNetwork<AriesNetwork, AriesNumbers, Options, JobState> {
 public:
  Modelled(sim::Engine& engine, const Setup& setup)
      : CardNetwork(engine, setup, setup.numbers.device), eager_(setup.numbers.matching.eager) {}

  static OptionTable options(Options& o, Use use) {
    using raw::Engine;
    OptionTable table;
    table.choice("fma", o.shared_fma, {{"dedicated", false}, {"shared", true}},
                 "windows into the card: one for each rank of a node, or shared, at host.fma_sharing a post");
    table.integer("grain", o.grain, kMostPacket, kMostGrain, "B",
                  "payload that goes through the fabric as one packet, 64 to 2048: more is faster to simulate and "
                  "coarser");
    if (use == Use::raw) {
      table.choice(
          "engine", o.engine, {{"auto", Engine::automatic}, {"fma", Engine::fma}, {"bte", Engine::bte}},
          "what moves puts and gets: a window (fma), the block transfer engine (bte), or a window up to 4096 B");
    } else {
      table.routing(o.adaptive, "packets");  // programs without a conduit rely on their order
    }
    if (use != Use::conduit) return table;
    AriesOptions& c = o.conduit;
    table.integer("medium", c.medium, 512, 65472, "B",
                  "largest payload of a Medium: 512 to 65472, a multiple of 64; areas, reply slots and buffers are as "
                  "large as that takes");
    table.integer("request_area", c.request_area, 0, std::int64_t{1} << 20U, "B",
                  "that a rank keeps for the requests of each other one, in slots of 256 B; 0: three of the largest "
                  "messages, 12288 with medium=4032");
    table.integer("reply_slots", c.reply_slots, 1, 4096, "slots",
                  "requests that a rank may have under way, to all: 1 to 4096");
    table.integer("descriptors", c.descriptors, 32, 16384, "posts", "that a rank may have under way: 32 to 16384");
    table.integer("bounce_buffers", c.bounce_buffers, 1, 4096, "buffers",
                  "of 4096 B, or of the largest message, that messages and memory outside the segment are copied "
                  "into: 1 to 4096");
    table.integer("fma_cutover", c.fma_cutover, 0, 16384, "B",
                  "puts and gets of no more bytes go by a window, others by the block transfer engine: 0 to 16384; "
                  "1023 as of 2018.9.0");
    table.integer("registrations", c.registrations, 1, 65536, "regions",
                  "of memory outside the segment that a rank may have registered at a time: 1 to 65536");
    return table;
  }
  static void complete(Setup& setup) {
    auto& [settings, topology, numbers, options] = setup;
    if (options.conduit.medium % kArgumentRoom != 0) {
      throw UsageError("option 'medium=" + settings.text("medium") + "': a multiple of " +
                       std::to_string(kArgumentRoom) + " is allowed");
    }
    (void)message_room(options.conduit);
    numbers.device.shared_fma = options.shared_fma;
    numbers.device.grain = options.grain;
    numbers.device.flow = unordered_flow(topology, options.adaptive);
  }

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    if (!shared_.conduits) shared_.conduits.emplace(engine_.ranks(), options_.conduit);
    auto conduit =
        std::make_unique<AriesConduit>(network_.domain(host.rank()), host, options_.conduit, *shared_.conduits);
    conduits_.resize(engine_.ranks());
    conduits_[index(host.rank())] = conduit.get();
    return conduit;
  }
  std::unique_ptr<services::MessageDevice> make_messages(Rank rank) override {
    if (!shared_.mailboxes) shared_.mailboxes.emplace(engine_.ranks(), eager_, options_.messages);
    return std::make_unique<AriesMessages>(network_.domain(rank), engine_.host(rank), *shared_.mailboxes);
  }
  // Wait for the end of posts: messages that follow their payload, and credits, depend on these events.
  void settle(Rank rank) override {
    if (conduits_.empty()) return;
    AriesConduit& conduit = *conduits_[index(rank)];
    sim::ModelHost host = engine_.host(rank);
    for (conduit.serve(); !conduit.is_quiet(); conduit.serve()) host.idle(kNever);
  }
  void serve(Rank rank) override {
    if (!conduits_.empty()) conduits_[index(rank)]->serve();
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(
        raw::programs(),
        {network_.domain(rank), engine_.host(rank), rank, engine_.ranks(), shared_.boxes, options_.engine}, settings_);
  }
  std::optional<std::vector<std::string>> idle_units() override {
    NicCounters all;
    each_rank([&](Rank rank) {
      const NicCounters& seen = network_.domain(rank).counters();
      all.rdma += seen.rdma;
      all.amos += seen.amos;
    });
    std::vector<std::string> idle;
    if (all.rdma == 0) idle.emplace_back("bte");
    if (all.amos == 0) idle.emplace_back("amo");
    if (!network_.parameters().shared_fma) idle.emplace_back("sharing");
    return idle;
  }
  void add_to(conduit::Counts& counts) override {
    each_rank([&](Rank rank) {
      const NicCounters& seen = network_.domain(rank).counters();
      counts.add(conduit::Count::commands, seen.fma + seen.rdma + seen.amos + seen.controls);
    });
  }

 private:
  Bytes eager_;                          // the longest eager message
  std::vector<AriesConduit*> conduits_;  // by rank; empty: the job has no Aries conduits
};

// The setups have the usual sizes, sizes so small that some resource is short all the time, and long Mediums.
std::vector<ConformanceSetup> conformance() {
  const std::vector<TrialPlan> trials = {{Trial::compared, {{2, 2}, {4, 2}, {5, 3, true}}},
                                         {Trial::third_refused, {{4, 2}}}};
  return {{.name = "usual", .trials = trials},
          {.name = "few slots, descriptors, buffers and registrations",
           .options = {{"request_area", "8192"},
                       {"reply_slots", "4"},
                       {"descriptors", "32"},
                       {"bounce_buffers", "2"},
                       {"fma_cutover", "1023"},
                       {"registrations", "2"}},
           .trials = trials},
          {.name = "Mediums of 65472 B", .options = {{"medium", "65472"}}, .trials = trials}};
}

std::vector<TrialMachine> trial_machines() {
  const MachineNumbers short_eager = {{"mpi.eager", 1024.0}};
  return {{.name = "usual",
           .other = short_eager,
           .repeats = true,
           .under_services = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{4, 2}}}}},
          {.name = "few blocks and places in mailboxes",
           .other = short_eager,
           .under_services = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{3, 3}}}},
           .make = [](const ModelledJob& job) -> std::unique_ptr<ModelledMachine> {
             return std::make_unique<CardMachine<Modelled>>(job, Options{.messages = kScarce});
           }}};
}

}  // namespace
}  // namespace aries

void register_aries(Registry& registry) {
  using namespace aries;
  ModelledEntry entry = described<Modelled>(
      {.name = "aries",
       .summary = "Cray XC: uGNI on Aries cards, FMA windows, block transfer engines, atomics of the card",
       .conduits = {{"aries",
                     "active messages by puts with flag into areas of slots, puts, gets and atomics by the cards, over "
                     "modelled Aries cards",
                     {}}},
       .raw_options = {},
       .raw = listed(raw::programs())});
  entry.messages = "modelled Aries cards";
  entry.conformance = conformance();
  entry.trial_machines = trial_machines();
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

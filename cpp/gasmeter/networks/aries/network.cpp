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
#include "gasmeter/networks/aries/invented_machine.hpp"
#include "gasmeter/networks/aries/raw/programs.hpp"
#include "gasmeter/networks/installation.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace aries {
namespace {

using conduit::MachineValues;

// Options of the card, for conduits and raw programs alike.
const std::vector<OptionInfo>& options() {
  static const std::vector<OptionInfo> all = {
      {"fma",
       "choice",
       "dedicated",
       "",
       {"dedicated", "shared"},
       "windows into the card: one for each rank of a node, or shared, at host.fma_sharing a post"},
      {"grain",
       "int",
       "1024",
       "B",
       {},
       "payload that goes through the fabric as one packet, 64 to 2048: more is faster to simulate and coarser"}};
  return all;
}

// Options of services, whose packets may take any path. Programs without a conduit rely on their order.
std::vector<OptionInfo> service_options() {
  std::vector<OptionInfo> all = options();
  all.push_back(routing_option("packets"));
  return all;
}

std::vector<OptionInfo> conduit_options() {
  std::vector<OptionInfo> all = {
      {"medium",
       "int",
       "4032",
       "B",
       {},
       "largest payload of a Medium: 512 to 65472, a multiple of 64; areas, reply slots and buffers are as large as "
       "that "
       "takes"},
      {"request_area",
       "int",
       "0",
       "B",
       {},
       "that a rank keeps for the requests of each other one, in slots of 256 B; 0: three of the largest messages, "
       "12288 "
       "with medium=4032"},
      {"reply_slots", "int", "64", "slots", {}, "requests that a rank may have under way, to all: 1 to 4096"},
      {"descriptors", "int", "512", "posts", {}, "that a rank may have under way: 32 to 16384"},
      {"bounce_buffers",
       "int",
       "64",
       "buffers",
       {},
       "of 4096 B, or of the largest message, that messages and memory outside the segment are copied into: 1 to 4096"},
      {"fma_cutover",
       "int",
       "4096",
       "B",
       {},
       "puts and gets of no more bytes go by a window, others by the block transfer engine: 0 to 16384; 1023 as of "
       "2018.9.0"},
      {"registrations",
       "int",
       "3072",
       "regions",
       {},
       "of memory outside the segment that a rank may have registered at a time: 1 to 65536"}};
  for (const OptionInfo& each : service_options()) all.push_back(each);
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

AriesOptions conduit_settings(const Settings& settings) {
  AriesOptions options;
  if (settings.options.count("descriptors") == 0) return options;  // programs without a conduit
  const auto count = [&](const char* name, std::int64_t least, std::int64_t most) {
    return static_cast<unsigned>(number(settings, name, least, most));
  };
  options.medium = count("medium", 512, 65472);
  if (options.medium % kArgumentRoom != 0) {
    throw UsageError("option 'medium=" + settings.text("medium") + "': a multiple of " + std::to_string(kArgumentRoom) +
                     " is allowed");
  }
  options.request_area = count("request_area", 0, std::int64_t{1} << 20U);
  options.reply_slots = count("reply_slots", 1, 4096);
  options.descriptors = count("descriptors", 32, 16384);
  options.bounce_buffers = count("bounce_buffers", 1, 4096);
  options.fma_cutover = count("fma_cutover", 0, 16384);
  options.registrations = count("registrations", 1, 65536);
  (void)message_room(options);
  return options;
}

std::vector<OptionInfo> raw_options() {
  std::vector<OptionInfo> all = {
      {"engine",
       "choice",
       "auto",
       "",
       {"auto", "fma", "bte"},
       "what moves puts and gets: a window (fma), the block transfer engine (bte), or a window up to 4096 B"}};
  for (const OptionInfo& each : options()) all.push_back(each);
  return all;
}

raw::Engine engine_of(const Settings& settings) {
  const std::string& text = settings.text("engine");
  if (text == "fma") return raw::Engine::fma;
  return text == "bte" ? raw::Engine::bte : raw::Engine::automatic;
}

Bytes grain_of(const Settings& settings) {
  const std::int64_t grain = settings.integer("grain");
  if (grain < static_cast<std::int64_t>(kMostPacket) || grain > static_cast<std::int64_t>(kMostGrain)) {
    throw UsageError("option 'grain=" + settings.text("grain") + "': allowed are " + std::to_string(kMostPacket) +
                     " to " + std::to_string(kMostGrain));
  }
  return static_cast<Bytes>(grain);
}

// Settings of two-sided messages.
struct Messages {
  Bytes eager = 0;  // the longest eager message
  AriesMessageLimits limits;
};

// Few blocks and mailboxes of two make sends wait.
constexpr AriesMessageLimits kScarce{.mailbox = 2, .sends = 3, .puts = 1};

class Modelled final : public ModelledNetwork {
 public:
  Modelled(sim::Engine& engine, const sim::Topology& topology, const AriesParameters& parameters,
           const AriesOptions& options, const Messages& messages, const Settings& settings)
      : engine_(engine),
        network_(engine, topology, parameters),
        options_(options),
        messages_(messages),
        settings_(settings) {}

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    if (!job_) job_.emplace(engine_.ranks(), options_);
    auto conduit = std::make_unique<AriesConduit>(network_.domain(host.rank()), host, options_, *job_);
    conduits_.resize(engine_.ranks());
    conduits_[index(host.rank())] = conduit.get();
    return conduit;
  }
  std::unique_ptr<services::MessageDevice> make_messages(Rank rank) override {
    if (!mailboxes_) mailboxes_.emplace(engine_.ranks(), messages_.eager, messages_.limits);
    return std::make_unique<AriesMessages>(network_.domain(rank), engine_.host(rank), *mailboxes_);
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
        {network_.domain(rank), engine_.host(rank), rank, engine_.ranks(), boxes_, engine_of(settings_)}, settings_);
  }
  std::optional<std::vector<std::string>> idle_units() const override {
    NicCounters all;
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      const NicCounters& seen = network_.domain(Rank{rank}).counters();
      all.rdma += seen.rdma;
      all.amos += seen.amos;
    }
    std::vector<std::string> idle;
    if (all.rdma == 0) idle.emplace_back("bte");
    if (all.amos == 0) idle.emplace_back("amo");
    if (!network_.parameters().shared_fma) idle.emplace_back("sharing");
    return idle;
  }
  void add_to(conduit::Counts& counts) override {
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      const NicCounters& seen = network_.domain(Rank{rank}).counters();
      counts.add(conduit::Count::commands, seen.fma + seen.rdma + seen.amos + seen.controls);
    }
  }
  sim::Fabric* fabric() override { return &network_.fabric(); }

 private:
  sim::Engine& engine_;
  raw::Boxes boxes_;                    // must outlive the bodies, which network_'s destructor cancels
  std::optional<JobMemory> job_;        // the same holds; of conduits
  std::optional<Mailboxes> mailboxes_;  // the same holds; of two-sided messages
  mutable AriesNetwork network_;
  AriesOptions options_;
  Messages messages_;
  const Settings& settings_;
  std::vector<AriesConduit*> conduits_;  // by rank; empty: the job has no Aries conduits
};

class Machine final : public ModelledMachine {
 public:
  Machine(const ModelledJob& job, MachineValues machine, const AriesMessageLimits& limits = {})
      : settings_(job.settings),
        limits_(limits),
        installation_(machine, job),
        prices_(aries_prices(machine)),
        parameters_(aries_parameters(machine, prices_)),
        matching_(services::matching_parameters(machine, prices_)),
        options_(conduit_settings(settings_)) {
    machine.check_all_used();
    parameters_.shared_fma = settings_.text("fma") == "shared";
    parameters_.grain = grain_of(settings_);
    if (settings_.options.count("routing") != 0) {
      parameters_.flow = unordered_flow(installation_.topology(), settings_);
    }
  }

  sim::EngineOptions engine_options() const override { return installation_.engine_options(settings_, prices_); }
  std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<Modelled>(engine, installation_.topology(), parameters_, options_,
                                      Messages{matching_.eager, limits_}, settings_);
  }
  services::MatchingParameters matching() const override { return matching_; }

 private:
  const Settings& settings_;
  AriesMessageLimits limits_;
  Installation installation_;
  conduit::HostPrices prices_;
  AriesParameters parameters_;
  services::MatchingParameters matching_;
  AriesOptions options_;
};

std::vector<ParameterInfo> parameters() {
  ParameterInfo sharing = software_time("host.fma_sharing", "a post by a window that ranks share, beside host.post");
  sharing.unit = "sharing";
  static const std::vector<ParameterInfo> device = {
      software_time("host.post", "a post: descriptor and call, but for the payload of an FMA put"),
      {"host.fma_bandwidth", "bandwidth", "a core stores into its window"},
      sharing,
      software_time("host.cq_event", "taking an event from a completion queue"),
      software_time("host.cq_empty", "looking into a completion queue that has none"),
      software_time("host.registration", "registering memory with the card, whatever its length"),
      software_time("host.registration_per_page", "registering memory with the card, for each page"),
      software_time("host.deregistration", "ending that, whatever its length"),
      {"link.bandwidth", "bandwidth", "a link between routers, in one direction"},
      {"link.latency", "time", "one hop: router and wire"},
      {"link.optical_bandwidth", "bandwidth", "likewise, between groups of routers"},
      {"link.optical_latency", "time", "one hop between groups of routers"},
      {"link.terminal_bandwidth", "bandwidth", "between a card and its router, in one direction"},
      {"link.terminal_latency", "time", "between a card and its router"},
      {"link.buffer", "count", "packets held by one input and virtual channel"},
      {"link.packet", "bytes", "payload of a packet"},
      {"link.header", "bytes", "added to each packet on the wire: header, checksum"},
      {"nic.bandwidth", "bandwidth", "between card and host memory, each way"},
      {"nic.request", "time", "the card is busy with a put, get or atomic that its node asks for"},
      {"nic.passage", "time", "a packet through the cards at both of its ends"},
      {"nic.host_read", "time", "from asking host memory to its first byte in the card"},
      {"nic.host_write", "time", "from the card to host memory"},
      {"nic.fma_windows", "count", "ranks of a node that may have a window each"},
      {"amo.operation", "time", "an atomic operation on a word that the card has at hand"},
      {"amo.words", "count", "that the card has at hand"},
      {"bte.start", "time", "from the turn of a descriptor to the first byte of what it names"},
      {"bte.engines", "count", "of a card, each with one descriptor at a time"},
  };
  return joined({core_parameters(), kernel_parameters(), instruction_parameters(), optional_parameters(), device,
                 matching_parameters()});
}

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
             return std::make_unique<Machine>(job, MachineValues("aries", job.machine), kScarce);
           }}};
}

}  // namespace
}  // namespace aries

void register_aries(Registry& registry) {
  using namespace aries;
  ModelledEntry entry;
  entry.info = {.name = "aries",
                .summary = "Cray XC: uGNI on Aries cards, FMA windows, block transfer engines, atomics of the card",
                .conduits = {{"aries",
                              "active messages by puts with flag into areas of slots, puts, gets and atomics by the "
                              "cards, over modelled Aries cards",
                              conduit_options()}},
                .raw_options = raw_options(),
                .raw = listed(raw::programs())};
  entry.parameters = parameters();
  entry.make = [](const ModelledJob& job) -> std::unique_ptr<ModelledMachine> {
    return std::make_unique<Machine>(job, MachineValues("aries", job.machine));
  };
  entry.messages = "modelled Aries cards";
  entry.service_options = service_options();
  entry.invented = &invented_machine;
  entry.conformance = conformance();
  entry.trial_machines = trial_machines();
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

// Registration of SCI with the library: its offers, options, parameters and raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/networks/installation.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/registry.hpp"
#include "gasmeter/networks/sci/invented_machine.hpp"
#include "gasmeter/networks/sci/raw/programs.hpp"
#include "gasmeter/networks/sci/sca_mpi.hpp"
#include "gasmeter/networks/sci/sci_conduit.hpp"
#include "gasmeter/networks/sci/sci_network.hpp"

namespace gasmeter::networks {
namespace sci {
namespace {

using conduit::MachineValues;

// Options for every user of the cards, conduits and raw programs alike.
std::vector<OptionInfo> driver_options() {
  return {{"big_area",
           "choice",
           "off",
           "",
           {"off", "on"},
           "off: a segment is as large as what the driver finds contiguous (driver.segment_limit); on: as with the "
           "kernel patch that sets memory aside, of any size"},
          {"dma_alignment",
           "choice",
           "8",
           "B",
           {"8", "64"},
           "of both addresses and of the size of a DMA transfer: 8, as the paper has it, or 64, as the released "
           "conduit"}};
}

std::vector<OptionInfo> conduit_options() {
  std::vector<OptionInfo> all = {
      {"check",
       "choice",
       "message",
       "",
       {"message", "transaction"},
       "when a sequence of stores is ended, which waits for their echoes: message: once, behind a message's data and "
       "before its flags; transaction: after each store of a header, a payload, a flag"},
      {"dma_source",
       "choice",
       "staged",
       "",
       {"staged", "segment"},
       "staged: what DMA sends is copied into an exported segment first; segment: it goes from where it lies, if that "
       "is exported and aligned"},
      {"long_pio",
       "int",
       "2048",
       "B",
       {},
       "Longs of fewer bytes are stored into the slot, others go by DMA; 0 to 2048"},
      {"medium",
       "choice",
       "two-transactions",
       "",
       {"two-transactions", "one-transaction"},
       "header and payload are stored one after the other, or copied together and stored as one"},
      {"queues",
       "choice",
       "paired",
       "",
       {"paired", "ibel", "ibel-split"},
       "paired: slots for each peer's requests and, belonging to them, for its replies; ibel: one buffer for all "
       "replies, so that one request is under way to the whole network, Longs bounced 4 KB at a time, a poll looks at "
       "a flag of every rank; ibel-split: a circular queue of slots for each peer, for requests and replies alike, "
       "which can deadlock"},
      {"slots",
       "int",
       "2",
       "requests",
       {},
       "slots that a rank keeps for each other's requests, and as many for its replies (queues=paired), or for both "
       "(ibel-split); 1 to 16"}};
  for (OptionInfo& each : driver_options()) all.push_back(std::move(each));
  return all;
}

unsigned number_option(const Settings& settings, const char* name, unsigned least, unsigned most) {
  const std::int64_t value = settings.integer(name);
  if (value < least || value > most) {
    throw UsageError("option '" + std::string(name) + "=" + settings.text(name) + "': allowed are " +
                     std::to_string(least) + " to " + std::to_string(most));
  }
  return static_cast<unsigned>(value);
}

SciOptions sci_options(const Settings& settings) {
  SciOptions options;
  if (settings.text("queues") == "ibel") options.queues = Queues::ibel;
  if (settings.text("queues") == "ibel-split") options.queues = Queues::split;
  options.pairs = number_option(settings, "slots", 1, 16);
  options.long_pio = number_option(settings, "long_pio", 0, 2048);
  options.one_transaction = settings.text("medium") == "one-transaction";
  options.staged = settings.text("dma_source") == "staged";
  if (settings.text("check") == "transaction") options.check = SciOptions::Check::transaction;
  return options;
}

// ScaMPI came with a driver of its own, which offers no choice.
bool has_driver_options(const Settings& settings) {
  return settings.options.count("dma_alignment") != 0;
}

DriverSettings driver_settings(const Settings& settings) {
  DriverSettings driver;
  if (!has_driver_options(settings)) return driver;
  driver.alignment = settings.text("dma_alignment") == "64" ? 64 : 8;
  driver.big_area = settings.text("big_area") == "on";
  return driver;
}

// Options of conduits over ScaMPI.
std::vector<OptionInfo> message_options() {
  return {{"check",
           "choice",
           "off",
           "",
           {"off", "message"},
           "whether ScaMPI ends a sequence of stores for each message, which waits for their echoes: off: it relies on "
           "packets that arrive in order or not at all; message: behind what lies outside of the envelope, before that "
           "is stored"}};
}

ScaMpiSizes sca_mpi_sizes(MachineValues& machine, Bytes eager) {
  ScaMpiSizes result;
  result.inlined = machine.bytes("mpi.inline");
  result.eager = eager;
  result.channel = machine.bytes("mpi.channel");
  result.eager_buffers = machine.count("mpi.eager_buffers");
  result.transporter = machine.bytes("mpi.transporter");
  result.transporters = machine.count("mpi.transporters");
  return result;
}

class Modelled final : public ModelledNetwork {
 public:
  Modelled(sim::Engine& engine, const sim::Topology& topology, const SciParameters& parameters,
           const ScaMpiSizes& messages, const Settings& settings)
      : engine_(engine),
        near_(engine.ranks()),
        network_(engine, topology, parameters, driver_settings(settings)),
        messages_(messages),
        settings_(settings) {}

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    auto conduit =
        std::make_unique<SciConduit>(network_.sisci(host.rank()), host, engine_.ranks(), sci_options(settings_), near_);
    conduits_.resize(engine_.ranks());
    conduits_[index(host.rank())] = conduit.get();
    return conduit;
  }
  void settle(Rank rank) override {
    if (!conduits_.empty()) conduits_[index(rank)]->settle();
  }
  std::unique_ptr<services::MessageDevice> make_messages(Rank rank) override {
    return std::make_unique<ScaMpi>(network_.sisci(rank), engine_.host(rank), engine_.ranks(), messages_,
                                    settings_.text("check") == "message");
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(
        raw::programs(),
        {network_.sisci(rank), engine_.host(rank), rank, engine_.ranks(),
         settings_.text("path") == "dma" ? raw::Path::dma : raw::Path::pio, settings_.op == "put"},
        settings_);
  }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      const SisciCounters& seen = network_.sisci(Rank{rank}).counters();
      counts.add(Count::commands, seen.stores + seen.loads + seen.checks + seen.transfers);
    }
    for (std::uint32_t node = 0; node < engine_.nodes(); ++node) {
      const SciCard& card = network_.card(NodeId{node});
      counts.add(Count::packets, card.transactions());
      counts.add(Count::held, card.held());
    }
  }
  sim::Fabric* fabric() override { return &network_.fabric(); }

 private:
  sim::Engine& engine_;
  services::AmBoxes near_;  // must outlive the bodies, which network_'s destructor cancels
  SciNetwork network_;
  ScaMpiSizes messages_;
  const Settings& settings_;
  std::vector<SciConduit*> conduits_;  // by rank; empty: the job has no SCI conduits
};

class Machine final : public ModelledMachine {
 public:
  Machine(const ModelledJob& job, MachineValues machine)
      : settings_(job.settings),
        installation_(machine, job),
        prices_(conduit::host_prices(machine, kInstructions)),
        parameters_(sci_parameters(machine, prices_[conduit::SharedPrice::pio_store].per_byte_fs)),
        matching_(services::matching_parameters(machine, prices_)),
        messages_(sca_mpi_sizes(machine, matching_.eager)) {
    machine.check_all_used();
  }

  sim::EngineOptions engine_options() const override { return installation_.engine_options(settings_, prices_); }
  std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<Modelled>(engine, installation_.topology(), parameters_, messages_, settings_);
  }
  services::MatchingParameters matching() const override { return matching_; }
  Bytes largest_segment() const override {
    return settings_.text("big_area") == "on" ? ModelledMachine::largest_segment() : parameters_.segment_limit;
  }

 private:
  const Settings& settings_;
  Installation installation_;
  conduit::HostPrices prices_;
  SciParameters parameters_;
  services::MatchingParameters matching_;
  ScaMpiSizes messages_;
};

std::vector<ParameterInfo> parameters() {
  static const std::vector<ParameterInfo> device = {
      {"link.echo", "bytes", "an echo, which goes on to where a packet has entered its ring"},
      {"link.turn", "time", "a packet's way through a card into the ring of another dimension"},
      {"bridge.outstanding", "count", "transactions of a card whose echoes are not back"},
      {"bridge.gather", "size", "largest packet that a card makes of stores"},
      {"bridge.send", "time", "from a burst of stores in the card to its first byte on the link"},
      {"bridge.receive", "time", "from a packet's last byte in the card to bytes that the host sees"},
      {"bridge.read", "time", "reading the host's memory for a load of another node"},
      {"dma.start", "time", "from posting a transfer to the engine's first read of memory"},
      {"dma.bandwidth", "bandwidth", "at which the engine reads memory"},
      {"driver.map", "time", "mapping a remote segment"},
      {"driver.segment_limit", "size", "largest memory that the driver finds contiguous"},
      {.key = "mpi.inline",
       .kind = "size",
       .summary = "two-sided messages of no more bytes travel with their envelope",
       .at_most = "mpi.eager"},
      {"mpi.channel", "size", "the ring of envelopes that a rank keeps for each that sends to it"},
      {"mpi.eager_buffers", "count", "buffers for messages of up to mpi.eager, for each sender"},
      {"mpi.transporter", "size", "a buffer for a piece of a longer message"},
      {"mpi.transporters", "count", "of those, for each sender"},
  };
  return joined({card_parameters(), device, matching_parameters()});
}

std::vector<ConformanceSetup> conformance() {
  const std::vector<TrialPlan> trials = {{Trial::compared, {{2, 2}, {4, 2}, {5, 3, true}}},
                                         {Trial::third_refused, {{4, 2}}}};
  const std::vector<TrialPlan> fewer = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{4, 2}}}};
  return {{.name = "usual", .trials = trials},
          {.name = "one transaction, all checked",
           .options = {{"slots", "4"}, {"medium", "one-transaction"}, {"check", "transaction"}},
           .trials = fewer},
          {.name = "DMA in units of 64 B, from where bytes lie, of all Longs",
           .options = {{"slots", "4"}, {"dma_alignment", "64"}, {"dma_source", "segment"}, {"long_pio", "0"}},
           .trials = fewer},
          // Only one request may be in flight, including requests of the library itself. A call that may not wait for
          // it is always refused.
          {.name = "one buffer for all replies",
           .options = {{"queues", "ibel"}},
           .trials = fewer,
           .left_out = {"full_rings_refuse_and_nothing_is_polled", "refused_transfers_leave_nothing",
                        "immediate_prepares_are_refused_and_nothing_is_polled",
                        "domains_tell_what_they_are_and_refuse_the_rest"}}};
}

// Each resource of ScaMPI is as small as a message allows, so that messages wait all the time.
std::vector<TrialMachine> trial_machines() {
  return {{.name = "tight",
           .other = {{"mpi.inline", 100.0},
                     {"mpi.eager", 1024.0},
                     {"mpi.channel", 256.0},
                     {"mpi.eager_buffers", 1.0},
                     {"mpi.transporter", 200.0},
                     {"mpi.transporters", 2.0}},
           .under_services = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{4, 2}, {3, 3}}}}}};
}

}  // namespace
}  // namespace sci

void register_sci(Registry& registry) {
  using namespace sci;
  std::vector<OptionInfo> raw_options = driver_options();
  raw_options.push_back({"path",
                         "choice",
                         "pio",
                         "",
                         {"pio", "dma"},
                         "pio: stores, as scipp, and loads; dma: transfers of the card's engine, posted and waited "
                         "for, as dma_bench"});
  ModelledEntry entry;
  entry.info = {.name = "sci",
                .summary = "SCI cards in one-way rings: stores, loads and DMA by SISCI",
                .conduits = {{"sci",
                              "active messages stored into slots that their receiver keeps for their sender, long ones "
                              "by DMA, over modelled SCI cards",
                              conduit_options()}},
                .raw_options = std::move(raw_options),
                .raw = listed(raw::programs())};
  entry.parameters = parameters();
  entry.make = [](const ModelledJob& job) -> std::unique_ptr<ModelledMachine> {
    return std::make_unique<Machine>(job, conduit::MachineValues("sci", job.machine));
  };
  entry.messages = "ScaMPI on modelled SCI cards";
  entry.service_options = message_options();
  entry.invented = &invented_machine;
  entry.conformance = conformance();
  entry.trial_machines = trial_machines();
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

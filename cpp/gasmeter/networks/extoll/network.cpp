// Registration of EXTOLL with the library: its offers, options, parameters and raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/networks/extoll/extoll_conduit.hpp"
#include "gasmeter/networks/extoll/extoll_messages.hpp"
#include "gasmeter/networks/extoll/extoll_network.hpp"
#include "gasmeter/networks/extoll/invented_machine.hpp"
#include "gasmeter/networks/extoll/raw/programs.hpp"
#include "gasmeter/networks/installation.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace extoll {
namespace {

using conduit::MachineValues;

const std::vector<OptionInfo>& options() {
  static const std::vector<OptionInfo> all = {
      {"am", "choice", "2", "", {"1", "2"}, "active messages of the early (1) or the improved (2) implementation"},
      {"lock",
       "choice",
       "am",
       "",
       {"am", "packet", "message", "none"},
       "what the lock of active messages is taken for; am: as option am says (packet, message)"},
      node_local_option("shared"),
      {"outstanding",
       "int",
       "0",
       "messages",
       {},
       "requests under way to a rank of another node until it has handled some; 0: any number, its card holds them"},
      {"put",
       "choice",
       "messages",
       "",
       {"messages", "rma"},
       "puts are active messages that are answered, or commands of the RMA unit that the target's software does not "
       "see"},
      {"receive",
       "choice",
       "am",
       "",
       {"am", "copy", "in-place"},
       "packets are copied out of their slots, or messages of one used there; am: copy, in-place"},
      {"sections",
       "choice",
       "am",
       "",
       {"am", "apart", "packed"},
       "header, arguments and payload in packets of their own, or sharing them; am: apart, packed"},
      {"send_poll",
       "choice",
       "am",
       "",
       {"am", "on", "off"},
       "the mailbox is looked at before each packet that is sent; am: on, off"}};
  return all;
}

AmOptions am_options(const Settings& settings) {
  AmOptions options = settings.text("am") == "1" ? AmOptions::early() : AmOptions::improved();
  const auto choose = [&settings](const char* option, const char* yes, bool& value) {
    if (settings.text(option) != "am") value = settings.text(option) == yes;
  };
  choose("sections", "packed", options.packed);
  choose("receive", "in-place", options.in_place);
  choose("send_poll", "on", options.send_poll);
  const std::int64_t outstanding = settings.integer("outstanding");
  if (outstanding < 0 || outstanding > 65535) {
    throw UsageError("option 'outstanding=" + settings.text("outstanding") +
                     "': allowed are 1 to 65535 requests, and 0 for any number");
  }
  options.outstanding = static_cast<unsigned>(outstanding);
  options.rma_puts = settings.text("put") == "rma";
  options.node_by_memory = settings.text("node_local") == "shared";
  const std::string& lock = settings.text("lock");
  if (lock == "none") options.lock = AmOptions::Lock::none;
  if (lock == "message") options.lock = AmOptions::Lock::message;
  if (lock == "packet") options.lock = AmOptions::Lock::packet;
  return options;
}

class Modelled final : public ModelledNetwork {
 public:
  Modelled(sim::Engine& engine, const sim::Topology& topology, const ExtollParameters& parameters,
           const Settings& settings)
      : engine_(engine), network_(engine, topology, parameters), settings_(settings) {}

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    return std::make_unique<ExtollConduit>(network_, host, host.rank(), am_options(settings_));
  }
  std::unique_ptr<services::MessageDevice> make_messages(Rank rank) override {
    return std::make_unique<ExtollMessages>(network_.port(rank), engine_.host(rank));
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(raw::programs(), raw_context(rank), settings_);
  }
  std::optional<std::vector<std::string>> idle_units() const override {
    return network_.has_commanded_rma() ? std::vector<std::string>{} : std::vector<std::string>{"rma"};
  }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      const PortCounters& seen = network_.port(Rank{rank}).counters();
      counts.add(Count::packets, seen.velo_sent);
      counts.add(Count::commands, seen.puts + seen.gets);
      counts.add(Count::refusals, seen.refused);
      counts.add(Count::held, seen.velo_held + seen.held_back);
      counts.add(Count::drops, seen.velo_dropped);
    }
  }
  sim::Fabric* fabric() override { return &network_.fabric(); }
  void name_steps(sim::Tracer& tracer) override {
    ModelledNetwork::name_steps(tracer);
    Outlet::name_steps(tracer);
  }

 private:
  [[nodiscard]] raw::Context raw_context(Rank rank) {
    return {network_.port(rank), engine_.host(rank), rank, engine_.ranks(), raw::path_of(settings_)};
  }

  sim::Engine& engine_;
  ExtollNetwork network_;
  const Settings& settings_;
};

class Machine final : public ModelledMachine {
 public:
  Machine(const ModelledJob& job, MachineValues machine)
      : settings_(job.settings),
        installation_(machine, job),
        prices_(conduit::host_prices(machine, kInstructions)),
        parameters_(extoll_parameters(machine, prices_[conduit::SharedPrice::pio_store].per_byte_fs)),
        matching_(services::matching_parameters(machine, prices_)) {
    machine.check_all_used();
  }

  sim::EngineOptions engine_options() const override { return installation_.engine_options(settings_, prices_); }
  std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<Modelled>(engine, installation_.topology(), parameters_, settings_);
  }
  services::MatchingParameters matching() const override { return matching_; }

 private:
  const Settings& settings_;
  Installation installation_;
  conduit::HostPrices prices_;
  ExtollParameters parameters_;
  services::MatchingParameters matching_;
};

std::vector<ParameterInfo> parameters() {
  static const std::vector<ParameterInfo> device = {
      {"link.packet", "size", "largest payload of one packet", "rma"},
      {"velo.payload", "size", "payload of one VELO packet"},
      {"velo.mailbox_slots", "count", "slots of a mailbox"},
      {"velo.send_pipeline", "time", "from the store burst to the packet's first byte on the link"},
      {"velo.send_engine", "time",
       "the send unit is busy with one packet, beside its bytes over a path as wide as a link"},
      {"velo.receive_engine", "time", "from the link to a status word that the host sees"},
      {.key = "velo.read_pointer_update",
       .kind = "count",
       .summary = "slots that are read before the read pointer is written back",
       .at_most = "velo.mailbox_slots"},
      {"rma.descriptor", "size", "a command as the host writes it"},
      {"rma.notification", "size", "a notification in host memory"},
      {"rma.requester", "time", "the requester is busy with one packet"},
      {"rma.completer", "time", "the completer is busy with one packet"},
      {"rma.responder", "time", "the responder is busy with one packet"},
      {"rma.host_read", "time", "a read of host memory by the card"},
      {"rma.notification_slots", "count", "slots of a notification queue"},
  };
  return joined({card_parameters(), device, matching_parameters()});
}

// The setups cover both implementations of active messages, both paths between node mates, and mailboxes that overflow.
std::vector<ConformanceSetup> conformance() {
  return {
      {.name = "improved"},
      {.name = "improved, looped, tiny mailbox", .machine = "tight", .options = {{"node_local", "loop"}}},
      {.name = "improved, looped, four outstanding",
       .options = {{"node_local", "loop"}, {"outstanding", "4"}},
       .repeats = true},
      {.name = "puts by RMA",
       .family = "extoll-rma",
       .options = {{"put", "rma"}},
       .trials = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{3, 3}}}},
       .repeats = true},
      {.name = "puts by RMA, looped, tiny mailbox",
       .family = "extoll-rma",
       .machine = "tight",
       .options = {{"put", "rma"}, {"node_local", "loop"}},
       .trials = {{Trial::compared, {{4, 2}}}},
       .repeats = true},
      {.name = "reference forms",
       .family = "extoll-reference",
       .options = in_reference_forms({{"put", "rma"}}),
       .trials = {{Trial::compared, {{4, 2}}}, {Trial::third_refused, {{5, 3, true}}}},
       .left_out = cases_of_refusals()},
      {.name = "early, looped",
       .family = "extoll-early",
       .options = {{"am", "1"}, {"node_local", "loop"}},
       .repeats = true},
      {.name = "early, small mailbox",
       .family = "extoll-early",
       .machine = "small",
       .options = {{"am", "1"}},
       .repeats = true},
  };
}

std::vector<TrialMachine> trial_machines() {
  const auto with_slots = [](double slots) {
    // Software is much faster than its card here. Small messages are refused while the card has no place, and that
    // state has to last for several tries.
    return MachineNumbers{{"host.instruction", 0.02e-9},
                          {"velo.send_engine", 1e-6},
                          {"velo.mailbox_slots", slots},
                          {"velo.read_pointer_update", slots / 4},
                          {"rma.notification_slots", 16.0},
                          {"link.buffer", 4.0},
                          {"mpi.eager", 1024.0}};
  };
  return {{.name = "usual", .other = with_slots(64)},
          {.name = "small", .other = with_slots(8)},
          {.name = "tight", .other = with_slots(4)}};
}

}  // namespace
}  // namespace extoll

void register_extoll(Registry& registry) {
  using namespace extoll;
  ModelledEntry entry;
  entry.info = {
      .name = "extoll",
      .summary = "EXTOLL cards in their own words: VELO packets and RMA commands",
      .conduits = {{"extoll", "active messages over the VELO and RMA units of modelled EXTOLL cards", options()}},
      .raw_options =
          {{"path",
            "choice",
            "auto",
            "",
            {"auto", "velo", "rma"},
            "messages and puts of ping-pong and flood: VELO what one packet holds of messages and RMA all else, "
            "or one of the two at every size"}},
      .raw = listed(raw::programs())};
  entry.parameters = parameters();
  entry.make = [](const ModelledJob& job) -> std::unique_ptr<ModelledMachine> {
    return std::make_unique<Machine>(job, conduit::MachineValues("extoll", job.machine));
  };
  entry.messages = "modelled EXTOLL cards";
  entry.invented = &invented_machine;
  entry.conformance = conformance();
  entry.trial_machines = trial_machines();
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

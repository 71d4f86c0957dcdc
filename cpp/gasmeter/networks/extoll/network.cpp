// Registration of EXTOLL with the library: its offers, options, parameters and raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/networks/card_machine.hpp"
#include "gasmeter/networks/extoll/extoll_conduit.hpp"
#include "gasmeter/networks/extoll/extoll_messages.hpp"
#include "gasmeter/networks/extoll/extoll_network.hpp"
#include "gasmeter/networks/extoll/raw/programs.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace extoll {
namespace {

struct Options {
  // Empty: as option am has it.
  bool early = false;
  std::optional<AmOptions::Lock> lock;
  std::optional<bool> packed, in_place, send_poll;
  AmOptions am;
  raw::Path path = raw::Path::automatic;
};

class Modelled final : public CardNetwork<ExtollNetwork, ExtollNumbers, Options> {
 public:
  Modelled(sim::Engine& engine, const Setup& setup) : CardNetwork(engine, setup, setup.numbers.device) {}

  static OptionTable options(Options& o, Use use) {
    using Lock = AmOptions::Lock;
    OptionTable table;
    if (use == Use::raw) {
      table.choice("path", o.path, {{"auto", raw::Path::automatic}, {"velo", raw::Path::velo}, {"rma", raw::Path::rma}},
                   "messages and puts of ping-pong and flood: VELO what one packet holds of messages and RMA all else, "
                   "or one of "
                   "the two at every size");
    }
    if (use != Use::conduit) return table;
    table.choice("am", o.early, {{"1", true}, {"2", false}},
                 "active messages of the early (1) or the improved (2) implementation");
    table.choice("lock", o.lock,
                 {{"am", std::nullopt}, {"packet", Lock::packet}, {"message", Lock::message}, {"none", Lock::none}},
                 "what the lock of active messages is taken for; am: as option am says (packet, message)");
    table.node_local(o.am.node_by_memory);
    table.integer("outstanding", o.am.outstanding, 0, 65535, "messages",
                  "requests under way to a rank of another node until it has handled some; 0: any number, its card "
                  "holds them",
                  "allowed are 1 to 65535 requests, and 0 for any number");
    table.choice("put", o.am.rma_puts, {{"messages", false}, {"rma", true}},
                 "puts are active messages that are answered, or commands of the RMA unit that the target's software "
                 "does not see");
    table.choice("receive", o.in_place, {{"am", std::nullopt}, {"copy", false}, {"in-place", true}},
                 "packets are copied out of their slots, or messages of one used there; am: copy, in-place");
    table.choice("sections", o.packed, {{"am", std::nullopt}, {"apart", false}, {"packed", true}},
                 "header, arguments and payload in packets of their own, or sharing them; am: apart, packed");
    table.choice("send_poll", o.send_poll, {{"am", std::nullopt}, {"on", true}, {"off", false}},
                 "the mailbox is looked at before each packet that is sent; am: on, off");
    return table;
  }
  static void complete(Setup& setup) {
    auto& [settings, topology, numbers, options] = setup;
    const AmOptions usual = options.early ? AmOptions::early() : AmOptions::improved();
    options.am.packed = options.packed.value_or(usual.packed);
    options.am.in_place = options.in_place.value_or(usual.in_place);
    options.am.send_poll = options.send_poll.value_or(usual.send_poll);
    options.am.lock = options.lock.value_or(usual.lock);
  }

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    return std::make_unique<ExtollConduit>(network_, host, host.rank(), options_.am);
  }
  std::unique_ptr<services::MessageDevice> make_messages(Rank rank) override {
    return std::make_unique<ExtollMessages>(network_.port(rank), engine_.host(rank));
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(
        raw::programs(), {network_.port(rank), engine_.host(rank), rank, engine_.ranks(), options_.path}, settings_);
  }
  std::optional<std::vector<std::string>> idle_units() override {
    return network_.has_commanded_rma() ? std::vector<std::string>{} : std::vector<std::string>{"rma"};
  }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    each_rank([&](Rank rank) {
      const PortCounters& seen = network_.port(rank).counters();
      counts.add(Count::packets, seen.velo_sent);
      counts.add(Count::commands, seen.puts + seen.gets);
      counts.add(Count::refusals, seen.refused);
      counts.add(Count::held, seen.velo_held + seen.held_back);
      counts.add(Count::drops, seen.velo_dropped);
    });
  }
  void name_steps(sim::Tracer& tracer) override {
    ModelledNetwork::name_steps(tracer);
    Outlet::name_steps(tracer);
  }
};

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
  ModelledEntry entry = described<Modelled>(
      {.name = "extoll",
       .summary = "EXTOLL cards in their own words: VELO packets and RMA commands",
       .conduits = {{"extoll", "active messages over the VELO and RMA units of modelled EXTOLL cards", {}}},
       .raw_options = {},
       .raw = listed(raw::programs())});
  entry.messages = "modelled EXTOLL cards";
  entry.conformance = conformance();
  entry.trial_machines = trial_machines();
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

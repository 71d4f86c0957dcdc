// Registration of SCI with the library: its offers, options, parameters and raw programs.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/networks/card_machine.hpp"
#include "gasmeter/networks/registry.hpp"
#include "gasmeter/networks/sci/raw/programs.hpp"
#include "gasmeter/networks/sci/sca_mpi.hpp"
#include "gasmeter/networks/sci/sci_conduit.hpp"
#include "gasmeter/networks/sci/sci_network.hpp"

namespace gasmeter::networks {
namespace sci {
namespace {

struct Options {
  SciOptions conduit;
  DriverSettings driver;  // ScaMPI came with a driver of its own, which offers no choice
  bool messages_are_checked = false;
  raw::Path path = raw::Path::pio;
};

class Modelled final : public CardNetwork<SciNetwork, SciNumbers, Options, services::AmBoxes> {
 public:
  Modelled(sim::Engine& engine, const Setup& setup)
      : CardNetwork(engine, setup, setup.numbers.device, setup.options.driver), messages_(setup.numbers.messages) {}

  static OptionTable options(Options& o, Use use) {
    using Check = SciOptions::Check;
    OptionTable table;
    if (use == Use::service) {
      table.choice("check", o.messages_are_checked, {{"off", false}, {"message", true}},
                   "whether ScaMPI ends a sequence of stores for each message, which waits for their echoes: off: it "
                   "relies on packets that arrive in order or not at all; message: behind what lies outside of the "
                   "envelope, before that is stored");
      return table;
    }
    table.choice("big_area", o.driver.big_area, {{"off", false}, {"on", true}},
                 "off: a segment is as large as what the driver finds contiguous (driver.segment_limit); on: as with "
                 "the kernel patch that sets memory aside, of any size");
    table.choice("dma_alignment", o.driver.alignment, {{"8", 8}, {"64", 64}},
                 "of both addresses and of the size of a DMA transfer: 8, as the paper has it, or 64, as the released "
                 "conduit",
                 "B");
    if (use == Use::raw) {
      table.choice("path", o.path, {{"pio", raw::Path::pio}, {"dma", raw::Path::dma}},
                   "pio: stores, as scipp, and loads; dma: transfers of the card's engine, posted and waited for, as "
                   "dma_bench");
      return table;
    }
    table.choice("check", o.conduit.check, {{"message", Check::message}, {"transaction", Check::transaction}},
                 "when a sequence of stores is ended, which waits for their echoes: message: once, behind a message's "
                 "data and before its flags; transaction: after each store of a header, a payload, a flag");
    table.choice("dma_source", o.conduit.staged, {{"staged", true}, {"segment", false}},
                 "staged: what DMA sends is copied into an exported segment first; segment: it goes from where it "
                 "lies, if that is exported and aligned");
    table.integer("long_pio", o.conduit.long_pio, 0, 2048, "B",
                  "Longs of fewer bytes are stored into the slot, others go by DMA; 0 to 2048");
    table.choice("medium", o.conduit.one_transaction, {{"two-transactions", false}, {"one-transaction", true}},
                 "header and payload are stored one after the other, or copied together and stored as one");
    table.choice("queues", o.conduit.queues,
                 {{"paired", Queues::paired}, {"ibel", Queues::ibel}, {"ibel-split", Queues::split}},
                 "paired: slots for each peer's requests and, belonging to them, for its replies; ibel: one buffer for "
                 "all replies, so that one request is under way to the whole network, Longs bounced 4 KB at a time, a "
                 "poll looks at a flag of every rank; ibel-split: a circular queue of slots for each peer, for "
                 "requests and replies alike, which can deadlock");
    table.integer("slots", o.conduit.pairs, 1, 16, "requests",
                  "slots that a rank keeps for each other's requests, and as many for its replies (queues=paired), or "
                  "for both (ibel-split); 1 to 16");
    return table;
  }

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    auto conduit =
        std::make_unique<SciConduit>(network_.sisci(host.rank()), host, engine_.ranks(), options_.conduit, shared_);
    conduits_.resize(engine_.ranks());
    conduits_[index(host.rank())] = conduit.get();
    return conduit;
  }
  void settle(Rank rank) override {
    if (!conduits_.empty()) conduits_[index(rank)]->settle();
  }
  std::unique_ptr<services::MessageDevice> make_messages(Rank rank) override {
    return std::make_unique<ScaMpi>(network_.sisci(rank), engine_.host(rank), engine_.ranks(), messages_,
                                    options_.messages_are_checked);
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(
        raw::programs(),
        {network_.sisci(rank), engine_.host(rank), rank, engine_.ranks(), options_.path, settings_.op == "put"},
        settings_);
  }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    each_rank([&](Rank rank) {
      const SisciCounters& seen = network_.sisci(rank).counters();
      counts.add(Count::commands, seen.stores + seen.loads + seen.checks + seen.transfers);
    });
    for (std::uint32_t node = 0; node < engine_.nodes(); ++node) {
      const SciCard& card = network_.card(NodeId{node});
      counts.add(Count::packets, card.transactions());
      counts.add(Count::held, card.held());
    }
  }

 private:
  ScaMpiSizes messages_;
  std::vector<SciConduit*> conduits_;  // by rank; empty: the job has no SCI conduits
};

class Machine final : public CardMachine<Modelled> {
 public:
  using CardMachine::CardMachine;
  Bytes largest_segment() const override {
    return setup().options.driver.big_area ? ModelledMachine::largest_segment() : setup().numbers.device.segment_limit;
  }
};

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
  ModelledEntry entry = described<Modelled, Machine>(
      {.name = "sci",
       .summary = "SCI cards in one-way rings: stores, loads and DMA by SISCI",
       .conduits = {{"sci",
                     "active messages stored into slots that their receiver keeps for their sender, long ones by DMA, "
                     "over modelled SCI cards",
                     {}}},
       .raw_options = {},
       .raw = listed(raw::programs())});
  entry.messages = "ScaMPI on modelled SCI cards";
  entry.conformance = conformance();
  entry.trial_machines = trial_machines();
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

// Registration of the toy network: its conduit, options, parameters and raw programs.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/card_machine.hpp"
#include "gasmeter/networks/ideal/ideal_conduit.hpp"
#include "gasmeter/networks/ideal/raw/programs.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace ideal {
namespace {

struct IdealNumbers : HostNumbers {
  IdealParameters device;

  IdealNumbers() { prices = ideal_prices(); }
};

ParameterTable table(IdealNumbers& n) {
  using conduit::PrivatePrice;
  using conduit::SharedPrice;
  IdealParameters& p = n.device;
  conduit::HostPrices& prices = n.prices;
  conduit::Price& registration = prices[SharedPrice::registration];
  conduit::Price& deregistration = prices[SharedPrice::deregistration];
  ParameterTable table("ideal");
  const auto software = [&table](const char* key, SimTime& field, const char* summary) {
    table.software(key, field, {}, summary);
  };
  software("host.call", prices[PrivatePrice::call].fixed, "entering one operation of the library");
  software("host.header_build", prices[PrivatePrice::header_build].fixed, "packing a message header and its arguments");
  software("host.dispatch", prices[PrivatePrice::dispatch].fixed, "handler table look-up and the call");
  software("host.poll_miss", prices[PrivatePrice::poll_miss].fixed, "a poll that finds nothing");
  software("host.update", prices[PrivatePrice::update].fixed, "one read-modify-write of a kernel on a word of its own");
  software("host.copy_start", prices.copy.fixed, "a copy from memory to memory, whatever its length");
  table.bandwidth("host.copy_bandwidth", prices.copy.per_byte_fs, {}, "a copy from memory to memory");
  software("host.line_store", prices[SharedPrice::line_store].fixed, "storing a cache line that another rank reads");
  software("host.line_transfer", prices[SharedPrice::line_transfer].fixed,
           "loading a cache line that another rank wrote");
  software("host.nic_post", prices[SharedPrice::nic_post].fixed,
           "handing one packet to the network (LogGP's o of the sender)");
  software("host.nic_take", prices[SharedPrice::nic_take].fixed,
           "taking one packet from the network (LogGP's o of the receiver)");
  software("host.registration", registration.fixed, "registering memory with the network, whatever its length");
  table.page("host.registration_per_page", registration.per_byte_fs, {},
             "registering memory with the network, for each page");
  software("host.deregistration", deregistration.fixed, "undoing that, whatever its length");
  table.page("host.deregistration_per_page", deregistration.per_byte_fs, {}, "undoing that, for each page");
  optional_rows(table, prices);
  table.time("nic.latency", p.latency, {}, "from the last byte's leaving to its arrival (L)");
  table.time("nic.gap", p.gap, {}, "pause of a NIC after a packet, on either side (g)");
  table.bandwidth("nic.bandwidth", p.gap_per_byte_fs, {}, "bytes on the wire (1 / G)");
  table.count("nic.send_slots", p.send_slots, {}, "packets of one rank that are prepared or have not left yet");
  table.count("nic.reply_slots", p.reply_slots, {}, "of these, kept for replies").below("nic.send_slots");
  return table;
}

struct Options {
  IdealOptions conduit;
  IdealEffects effects;
  conduit::PiecePrices pieces;
  SimTime latency_back{};
  SimTime instruction{};
  std::int64_t generate_byte_fs = 0;
  unsigned nodes = 1;
  bool near = false;
};

class Modelled final : public ModelledNetwork {
 public:
  using Numbers = IdealNumbers;
  using Options = ideal::Options;

  Modelled(sim::Engine& engine, const IdealParameters& parameters, const Options& options, const Settings& settings)
      : engine_(engine),
        near_(engine.ranks()),
        network_(engine, parameters, options.effects),
        options_(options),
        settings_(settings) {}

  static OptionTable options(Options& o, Use use);

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    return std::make_unique<IdealConduit>(network_, host, host.rank(), options_.conduit,
                                          options_.near ? &near_ : nullptr);
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(raw::programs(), {network_.nic(rank), engine_.host(rank), rank, engine_.ranks()},
                              settings_);
  }
  void add_to(conduit::Counts& counts) override {
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      const NicCounters& seen = network_.nic(Rank{rank}).counters();
      counts.add(conduit::Count::packets, seen.sent);
      counts.add(conduit::Count::packet_bytes, seen.bytes_sent);
      counts.add(conduit::Count::refusals, seen.refused);
    }
  }
  void name_steps(sim::Tracer& tracer) override { network_.name_steps(tracer); }

 private:
  sim::Engine& engine_;
  services::AmBoxes near_;  // outlives the bodies, which the network's end cancels
  IdealNetwork network_;
  Options options_;
  const Settings& settings_;
};

OptionTable Modelled::options(Options& o, Use use) {
  constexpr std::int64_t kLeastMedium = 512;  // any library of active messages promises so much
  OptionTable table;
  if (use == Use::service) return table;
  table.add({"nodes",
             "int",
             "2",
             "nodes",
             {},
             "nodes that the ranks are spread over, in rank order; by default no more than ranks",
             false,
             true},
            [&o](const Settings& settings) {
              std::int64_t nodes = settings.integer("nodes");
              if (!settings.given.contains("nodes")) nodes = std::min<std::int64_t>(nodes, settings.ranks);
              if (nodes < 1 || nodes > static_cast<std::int64_t>(settings.ranks)) {
                throw UsageError("option 'nodes=" + std::to_string(nodes) + "': allowed are 1.." +
                                 std::to_string(settings.ranks) + ", the number of ranks");
              }
              o.nodes = static_cast<unsigned>(nodes);
            });
  IdealEffects& e = o.effects;
  table.time("latency_back", o.latency_back, "the latency of packets to a rank of a lower number; 0: as of others");
  table.time("interrupt", e.interrupt, "a packet that comes interrupts a core for so long, and can be taken then");
  table.choice("interrupts", e.other_core, {{"rank", false}, {"other", true}},
               "whose core: the rank's, or one that runs no rank");
  table.choice("handlers", e.handlers_by_interrupt, {{"poll", false}, {"interrupt", true}},
               "whether a rank that computes handles what comes");
  table.time("poll", e.poll, "a poll that finds nothing costs so much more");
  table.time("load", e.load, "taking a packet stalls the core for so long");
  table.time("check", e.check, "a sender asks for so long whether its packet has gone");
  table.time("flag", e.flag, "... and sets a flag behind it");
  table.time("scan", e.scan, "a receiver looks through flags for so long before it takes a packet");
  table.time("piece_copy", o.pieces.copy, "a piece of up to 64 B of many, in place of a copy's start; 0: that", 6);
  table.time("loop_turn", o.pieces.turn, "a turn of a loop over pieces", 6);
  table.time("loop_level", o.pieces.level, "beginning a loop over pieces", 6);
  table.time("near_translation", o.pieces.translation, "looking up where a neighbour's address lies", 6);
  if (use == Use::raw) return table;
  IdealOptions& c = o.conduit;
  table.time("search", c.search, "finding what a message belongs to takes so long");
  table.time("translate", c.translate, "... and making an address of where a Long belongs");
  table.add(
      {"generate_byte",
       "float",
       "0",
       "ns",
       {},
       "storing a byte of payload that a program makes itself costs so long; 0: as much as copying it"},
      [&o](const Settings& settings) {
        const double ns = settings.number("generate_byte");
        if (!(ns >= 0 && ns <= 1000)) {
          throw UsageError("option 'generate_byte=" + settings.text("generate_byte") + "': 0 to 1000 ns are allowed");
        }
        o.generate_byte_fs = std::llround(ns * 1e6);
      });
  table.time("instruction", o.instruction, "each instruction of what a program computes takes so long");
  table.integer("medium", c.medium, kLeastMedium, 4096, "B", "largest Medium; a Long has up to 4096",
                "allowed are 512 to 4096 bytes");
  table.choice("put", c.native_puts, {{"messages", false}, {"native", true}},
               "puts are active messages that are answered, or done by the interface, which reads when they leave");
  table.node_local(o.near);
  table.registration(c.pins, "what is sent out of memory outside the segment is registered, and kept so");
  return table;
}

class Machine final : public ModelledMachine {
 public:
  explicit Machine(const ModelledJob& job) : settings_(job.settings) {
    if (!job.machine.empty()) {
      conduit::MachineValues machine(job.network, job.machine);
      take(machine, numbers_);
      machine.check_all_used();
    }
    Modelled::options(options_, job.use).read(settings_);
    numbers_.device.latency_back = options_.latency_back;
    add_piece_prices(numbers_.prices, options_.pieces);
    numbers_.prices[conduit::PrivatePrice::generate] = {{}, options_.generate_byte_fs};
    numbers_.prices[conduit::PrivatePrice::instruction].per_byte_fs = options_.instruction.ps * 1000;
  }

  sim::EngineOptions engine_options() const override {
    sim::EngineOptions options = common_options(settings_);
    options.nodes = options_.nodes;
    options.prices = numbers_.prices;
    return options;
  }
  std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<Modelled>(engine, numbers_.device, options_, settings_);
  }

 private:
  const Settings& settings_;
  IdealNumbers numbers_;
  Options options_;
};

}  // namespace
}  // namespace ideal

void register_ideal(Registry& registry) {
  using namespace ideal;
  ModelledEntry entry = described<Modelled, Machine>(
      {.name = "ideal",
       .summary = "the toy network's interface, without a conduit",
       .conduits = {{"ideal", "a toy modelled network with LogGP costs, in exact virtual time", {}}},
       .raw_options = {},
       .raw = listed(raw::programs())});
  entry.invented = nullptr;
  // The conformance suite tests core's refusals on this network, because its jobs are the cheapest.
  entry.conformance = {
      {.trials = {{Trial::plain}}},
      {.family = "registration",
       .options = {{"registration", "cached"}, {"pinned_pages", "3"}},
       .trials = {{Trial::compared}, {Trial::third_refused}}},
      {.family = "node-mates",
       .options = {{"node_local", "shared"}},
       .trials = {{Trial::compared}, {Trial::third_refused}, {Trial::many_refused, {{4, 1}}}}},
      {.family = "faults", .trials = {{Trial::many_refused, {{2, 2}, {5, 3, true}}}}},
      {.family = "faults-in-turn", .trials = {{Trial::each_refused}}},
      {.name = "native puts",
       .family = "ideal-native",
       .options = {{"put", "native"}},
       .trials = {{Trial::compared, {{3, 3}, {4, 2, true}}}, {Trial::third_refused, {{4, 2}}}},
       .repeats = true},
      {.name = "small Mediums",
       .family = "ideal-native",
       .options = {{"medium", "512"}},
       .trials = {{Trial::compared, {{3, 3}}}, {Trial::third_refused, {{4, 2}}}},
       .repeats = true},
      {.name = "polls at injection",
       .family = "effects",
       .options = {{"poll_at_injection", "true"}},
       .trials = {{Trial::compared, {{3, 3}, {4, 2, true}}}, {Trial::third_refused}},
       .repeats = true},
      {.name = "reference forms",
       .family = "ideal-reference",
       .options = in_reference_forms({{"put", "native"}}),
       .trials = {{Trial::compared, {{3, 3}, {4, 2, true}}}, {Trial::third_refused, {{4, 2}, {5, 3, true}}}},
       .left_out = cases_of_refusals()},
      {.name = "all atomics and prepared messages by messages",
       .family = "ideal-reference",
       .options = {{"atomics", "messages"}, {"np_am", "reference"}},
       .trials = {{Trial::compared, {{4, 2, true}}}, {Trial::third_refused, {{3, 3}}}}},
      {.family = "lazy-and-strict", .trials = {{Trial::compared}}, .repeats = true},
      {.name = "interrupts",
       .family = "effects",
       .options = {{"interrupt", "70"},
                   {"handlers", "interrupt"},
                   {"poll", "3"},
                   {"load", "110"},
                   {"check", "30"},
                   {"flag", "11"},
                   {"scan", "17"},
                   {"search", "23"},
                   {"translate", "29"}},
       .trials = {{Trial::compared}, {Trial::third_refused}}},
      {.name = "another core",
       .family = "effects",
       .options = {{"interrupt", "70"}, {"interrupts", "other"}, {"load", "110"}},
       .trials = {{Trial::compared}},
       .repeats = true},
      {.name = "pieces, loops and translations",
       .family = "effects",
       .options = {{"piece_copy", "3"}, {"loop_turn", "2"}, {"loop_level", "7"}, {"near_translation", "11"}},
       .trials = {{Trial::compared}, {Trial::third_refused}},
       .repeats = true},
  };
  entry.needs_machine = false;
  entry.threads = false;
  entry.header = 16;
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks

// Registration of the toy network: its conduit, options, parameters and raw programs.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/ideal/ideal_conduit.hpp"
#include "gasmeter/networks/ideal/raw/programs.hpp"
#include "gasmeter/networks/installation.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace ideal {
namespace {

using conduit::MachineValues;

IdealOptions conduit_options(const Settings& settings) {
  constexpr std::int64_t kLeast = 512;  // any library of active messages promises so much
  const IdealOptions usual;
  const std::int64_t medium = settings.integer("medium");
  if (medium < kLeast || medium > static_cast<std::int64_t>(usual.medium)) {
    throw UsageError("option 'medium=" + settings.text("medium") + "': allowed are " + std::to_string(kLeast) + " to " +
                     std::to_string(usual.medium) + " bytes");
  }
  return {settings.text("put") == "native", static_cast<Bytes>(medium), pin_limits(settings),
          time_option(settings, "search"), time_option(settings, "translate")};
}

// Return the price of generating a byte; no price means that of a copy.
conduit::Price price_of_generating(const Settings& settings) {
  if (!settings.options.contains("generate_byte")) return {};  // raw programs have no such option
  const double ns = settings.number("generate_byte");
  if (ns >= 0 && ns <= 1000) return {{}, std::llround(ns * 1e6)};
  throw UsageError("option 'generate_byte=" + settings.text("generate_byte") + "': 0 to 1000 ns are allowed");
}

class Modelled final : public ModelledNetwork {
 public:
  Modelled(sim::Engine& engine, const IdealParameters& parameters, const Settings& settings)
      : engine_(engine),
        near_(engine.ranks()),
        network_(engine, parameters, IdealEffects::from(settings)),
        settings_(settings) {}

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    return std::make_unique<IdealConduit>(network_, host, host.rank(), conduit_options(settings_),
                                          settings_.text("node_local") == "shared" ? &near_ : nullptr);
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
  const Settings& settings_;
};

class Machine final : public ModelledMachine {
 public:
  explicit Machine(const ModelledJob& job) : settings_(job.settings) {
    if (job.machine.empty()) {
      prices_ = ideal_prices();
    } else {
      MachineValues machine("ideal", job.machine);
      prices_ = ideal_prices(machine);
      parameters_ = IdealParameters::from(machine);
      machine.check_all_used();
    }
    parameters_.latency_back = time_option(settings_, "latency_back");
  }

  sim::EngineOptions engine_options() const override {
    sim::EngineOptions options = common_options(settings_);
    std::int64_t nodes = settings_.integer("nodes");
    if (!settings_.given.contains("nodes")) nodes = std::min<std::int64_t>(nodes, settings_.ranks);
    if (nodes < 1 || nodes > static_cast<std::int64_t>(settings_.ranks)) {
      throw UsageError("option 'nodes=" + std::to_string(nodes) + "': allowed are 1.." +
                       std::to_string(settings_.ranks) + ", the number of ranks");
    }
    options.nodes = static_cast<unsigned>(nodes);
    options.prices = with_piece_prices(prices_, settings_);
    options.prices[conduit::PrivatePrice::generate] = price_of_generating(settings_);
    options.prices[conduit::PrivatePrice::instruction].per_byte_fs =
        settings_.options.contains("instruction") ? time_option(settings_, "instruction").ps * 1000 : 0;
    return options;
  }
  std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<Modelled>(engine, parameters_, settings_);
  }

 private:
  const Settings& settings_;
  conduit::HostPrices prices_;
  IdealParameters parameters_;
};

}  // namespace
}  // namespace ideal

void register_ideal(Registry& registry) {
  using namespace ideal;
  const std::vector<OptionInfo> raw_options{
      {"nodes",
       "int",
       "2",
       "nodes",
       {},
       "nodes that the ranks are spread over, in rank order; by default no more than ranks",
       false,
       true},
      {"latency_back", "float", "0", "ns", {}, "the latency of packets to a rank of a lower number; 0: as of others"},
      {"interrupt", "float", "0", "ns", {}, "a packet that comes interrupts a core for so long, and can be taken then"},
      {"interrupts", "choice", "rank", "", {"rank", "other"}, "whose core: the rank's, or one that runs no rank"},
      {"handlers", "choice", "poll", "", {"poll", "interrupt"}, "whether a rank that computes handles what comes"},
      {"poll", "float", "0", "ns", {}, "a poll that finds nothing costs so much more"},
      {"load", "float", "0", "ns", {}, "taking a packet stalls the core for so long"},
      {"check", "float", "0", "ns", {}, "a sender asks for so long whether its packet has gone"},
      {"flag", "float", "0", "ns", {}, "... and sets a flag behind it"},
      {"scan", "float", "0", "ns", {}, "a receiver looks through flags for so long before it takes a packet"},
      {"piece_copy", "float", "0", "ns", {}, "a piece of up to 64 B of many, in place of a copy's start; 0: that"},
      {"loop_turn", "float", "0", "ns", {}, "a turn of a loop over pieces"},
      {"loop_level", "float", "0", "ns", {}, "beginning a loop over pieces"},
      {"near_translation", "float", "0", "ns", {}, "looking up where a neighbour's address lies"}};
  std::vector<OptionInfo> options = raw_options;
  options.push_back({"search", "float", "0", "ns", {}, "finding what a message belongs to takes so long"});
  options.push_back({"translate", "float", "0", "ns", {}, "... and making an address of where a Long belongs"});
  options.push_back({"generate_byte",
                     "float",
                     "0",
                     "ns",
                     {},
                     "storing a byte of payload that a program makes itself costs so long; 0: as much as copying it"});
  options.push_back(
      {"instruction", "float", "0", "ns", {}, "each instruction of what a program computes takes so long"});
  options.push_back({"medium", "int", "4096", "B", {}, "largest Medium; a Long has up to 4096"});
  options.push_back({"put",
                     "choice",
                     "messages",
                     "",
                     {"messages", "native"},
                     "puts are active messages that are answered, or done by the interface, which reads when they "
                     "leave"});
  options.push_back(node_local_option("loop"));
  options.push_back(registration_option("what is sent out of memory outside the segment is registered, and kept so"));
  options.push_back(pinned_pages_option());
  ModelledEntry entry;
  entry.info = {.name = "ideal",
                .summary = "the toy network's interface, without a conduit",
                .conduits = {{"ideal", "a toy modelled network with LogGP costs, in exact virtual time", options}},
                .raw_options = raw_options,
                .raw = listed(raw::programs())};
  const std::vector<ParameterInfo> host = {
      software_time("host.call", "entering one operation of the library"),
      software_time("host.header_build", "packing a message header and its arguments"),
      software_time("host.dispatch", "handler table look-up and the call"),
      software_time("host.poll_miss", "a poll that finds nothing"),
      software_time("host.update", "one read-modify-write of a kernel on a word of its own"),
      software_time("host.copy_start", "a copy from memory to memory, whatever its length"),
      {"host.copy_bandwidth", "bandwidth", "a copy from memory to memory"},
      software_time("host.line_store", "storing a cache line that another rank reads"),
      software_time("host.line_transfer", "loading a cache line that another rank wrote"),
      software_time("host.nic_post", "handing one packet to the network (LogGP's o of the sender)"),
      software_time("host.nic_take", "taking one packet from the network (LogGP's o of the receiver)"),
      software_time("host.registration", "registering memory with the network, whatever its length"),
      software_time("host.registration_per_page", "registering memory with the network, for each page"),
      software_time("host.deregistration", "undoing that, whatever its length"),
      software_time("host.deregistration_per_page", "undoing that, for each page"),
  };
  const std::vector<ParameterInfo> nic = {
      {"nic.latency", "time", "from the last byte's leaving to its arrival (L)"},
      {"nic.gap", "time", "pause of a NIC after a packet, on either side (g)"},
      {"nic.bandwidth", "bandwidth", "bytes on the wire (1 / G)"},
      {"nic.send_slots", "count", "packets of one rank that are prepared or have not left yet"},
      {.key = "nic.reply_slots", .kind = "count", .summary = "of these, kept for replies", .below = "nic.send_slots"},
  };
  entry.parameters = joined({host, optional_parameters(), nic});
  entry.make = [](const ModelledJob& job) -> std::unique_ptr<ModelledMachine> {
    return std::make_unique<Machine>(job);
  };
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

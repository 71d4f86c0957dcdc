// A network in virtual time: what it is made of, and what it offers to conduits and programs.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gasmeter/conduit/charges.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/conduit/recording.hpp"
#include "gasmeter/networks/conformance.hpp"
#include "gasmeter/networks/network.hpp"
#include "gasmeter/services/datagram_service.hpp"
#include "gasmeter/services/matched_messages.hpp"
#include "gasmeter/services/message_device.hpp"
#include "gasmeter/services/two_sided_service.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/fabric.hpp"
#include "gasmeter/sim/model_host.hpp"
#include "gasmeter/sim/tracer.hpp"

namespace gasmeter::networks {

// One network for one engine. What it makes for a rank lives as long as the network does, unless it is handed over; it
// is made at most once for each rank.
class ModelledNetwork {
 public:
  ModelledNetwork() = default;
  ModelledNetwork(const ModelledNetwork&) = delete;
  ModelledNetwork& operator=(const ModelledNetwork&) = delete;
  virtual ~ModelledNetwork() = default;

  // What it offers; null where it does not.
  [[nodiscard]] virtual std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost /*host*/) { return nullptr; }
  [[nodiscard]] virtual std::unique_ptr<Program> make_raw(Rank /*rank*/) { return nullptr; }
  [[nodiscard]] virtual std::unique_ptr<services::MessageDevice> make_messages(Rank /*rank*/) { return nullptr; }
  // Of a network that matches by itself, instead: nothing is matched over messages then.
  [[nodiscard]] virtual std::unique_ptr<services::TwoSidedService> make_two_sided(Rank /*rank*/) { return nullptr; }
  // `largest`: payload of a datagram; 0: what fits a packet.
  [[nodiscard]] virtual std::unique_ptr<services::DatagramService> make_datagrams(Rank /*rank*/, Bytes /*largest*/) {
    return nullptr;
  }

  // On a rank's own fibre when it has ended a block: sends what its peers may still lack, since nobody polls until the
  // next.
  virtual void settle(Rank /*rank*/) {}
  // Likewise, while it waits for something else: what it does for its peers without polling.
  virtual void serve(Rank /*rank*/) {}
  // Writes down what a raw program does. False where the network cannot.
  [[nodiscard]] virtual bool record_raw(conduit::RankRecord&) { return false; }
  // Units of its devices that have had no command so far, by the words of its parameters: nothing has depended on
  // those. Nothing: it cannot tell what has depended on its machine.
  [[nodiscard]] virtual std::optional<std::vector<std::string>> idle_units() const { return std::nullopt; }
  // Adds what its devices have counted, of all ranks; not while the engine runs.
  virtual void add_to(conduit::Counts& /*counts*/) {}
  // Null where it has no links.
  [[nodiscard]] virtual sim::Fabric* fabric() { return nullptr; }
  // Tells a tracer what its events are; those it does not name are steps of a device.
  virtual void name_steps(sim::Tracer& tracer) {
    if (fabric() != nullptr) fabric()->name_steps(tracer);
  }
};

// What a job in virtual time hands to the network it runs on; outlives what is made of it.
struct ModelledJob {
  const Settings& settings;
  const MachineNumbers& machine;
};

// A machine of one network: the engine it needs, and then the network for that engine.
class ModelledMachine {
 public:
  ModelledMachine() = default;
  ModelledMachine(const ModelledMachine&) = delete;
  ModelledMachine& operator=(const ModelledMachine&) = delete;
  virtual ~ModelledMachine() = default;

  [[nodiscard]] virtual sim::EngineOptions engine_options() const = 0;
  [[nodiscard]] virtual std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const = 0;
  // Of a network that offers messages: how they are matched.
  [[nodiscard]] virtual services::MatchingParameters matching() const { return {}; }
  // Bytes that a rank may offer as its segment on a conduit of the network's own.
  [[nodiscard]] virtual Bytes largest_segment() const { return std::numeric_limits<Bytes>::max(); }
};

struct ModelledEntry {
  NetworkInfo info;
  std::vector<ParameterInfo> parameters;
  // Throws UsageError for options and numbers that fit neither the network nor the ranks.
  std::unique_ptr<ModelledMachine> (*make)(const ModelledJob&) = nullptr;
  bool needs_machine = true;  // false: it has numbers of its own
  bool threads = true;        // its simulation may use several
  Bytes header = 0;           // before each message on the wire, where the machine does not say it (link.header)
  // What conduits over services run on: words for their summaries; empty: the network does not offer it.
  std::string messages;                     // modelled EXTOLL cards
  bool matches = false;                     // by itself: make_two_sided
  std::string datagrams;                    // modelled sockets and Ethernet
  std::string known_as;                     // in those conduits' names, as in udp@KNOWN_AS; empty: by its own name
  std::vector<OptionInfo> service_options;  // what it adds to theirs
  // For tests. A machine that stands for none: round numbers, so many nodes; null: the network needs none.
  MachineNumbers (*invented)(unsigned nodes) = nullptr;
  std::vector<ConformanceSetup> conformance{{}};  // of its own conduits
  std::vector<TrialMachine> trial_machines{};
};

// A conduit over a service, on whichever modelled network offers that: of all ranks of a job.
class ServiceRanks {
 public:
  ServiceRanks() = default;
  ServiceRanks(const ServiceRanks&) = delete;
  ServiceRanks& operator=(const ServiceRanks&) = delete;
  virtual ~ServiceRanks() = default;

  // Each at most once for a rank.
  [[nodiscard]] virtual std::unique_ptr<conduit::Conduit> make_conduit(Rank rank) = 0;
  [[nodiscard]] virtual std::unique_ptr<Program> make_raw(Rank /*rank*/) { return nullptr; }
  // As of a network.
  virtual void settle(Rank rank) = 0;
  virtual void serve(Rank rank) = 0;
};

enum class Service : std::uint8_t { messages, datagrams };

struct ServiceEntry {
  std::string name;  // udp: the conduits are udp@NETWORK
  Service service = Service::messages;
  std::string summary;  // the udp conduit; followed by `over` and the network's words
  std::vector<OptionInfo> options;
  std::vector<OptionInfo> matching_options;  // of conduits and raw programs where messages are matched over a device
  std::string raw_summary;                   // of raw@NAME@NETWORK; empty: there is none
  std::vector<OptionInfo> raw_options;
  std::vector<std::string> raw;  // kernels
  using Make = std::unique_ptr<ServiceRanks> (*)(sim::Engine&, ModelledNetwork&, const ModelledMachine&,
                                                 const Settings&);
  Make make = nullptr;
  // For tests.
  std::vector<ConformanceSetup> conformance{{}};
  Make make_for_trials = nullptr;  // with numbers that wrap around soon; null: they have none
};

}  // namespace gasmeter::networks

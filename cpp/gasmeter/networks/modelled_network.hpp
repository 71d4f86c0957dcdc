// Interfaces of a network in virtual time: machine, network, and the services it offers to conduits and programs.
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
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/trace/tracer.hpp"

namespace gasmeter::networks {

// Network that belongs to one engine. It makes each object at most once for each rank. Such an object lives as long as
// the network unless the caller gets ownership.
class ModelledNetwork {
 public:
  ModelledNetwork() = default;
  ModelledNetwork(const ModelledNetwork&) = delete;
  ModelledNetwork& operator=(const ModelledNetwork&) = delete;
  virtual ~ModelledNetwork() = default;

  // Each make function returns null if the network does not offer that interface.
  [[nodiscard]] virtual std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost /*host*/) { return nullptr; }
  [[nodiscard]] virtual std::unique_ptr<Program> make_raw(Rank /*rank*/) { return nullptr; }
  [[nodiscard]] virtual std::unique_ptr<services::MessageDevice> make_messages(Rank /*rank*/) { return nullptr; }
  // Overridden instead of make_messages by a network that matches tags itself.
  [[nodiscard]] virtual std::unique_ptr<services::TwoSidedService> make_two_sided(Rank /*rank*/) { return nullptr; }
  // `largest` is the payload limit of a datagram in bytes; 0: as much as fits a packet.
  [[nodiscard]] virtual std::unique_ptr<services::DatagramService> make_datagrams(Rank /*rank*/, Bytes /*largest*/) {
    return nullptr;
  }

  // Send what peers still lack. Runs on the rank's own fibre when it has ended a block, because no rank polls until
  // the next block.
  virtual void settle(Rank /*rank*/) {}
  // Do the rank's work for its peers without a poll, while it waits for something else. Also runs on its own fibre.
  virtual void serve(Rank /*rank*/) {}
  // Record a raw program's operations. Returns false if the network cannot.
  [[nodiscard]] virtual bool record_raw(conduit::RankRecord&) { return false; }
  // Return the device units that had no command so far, named as in parameter keys: no result depends on them yet.
  // Nothing is returned if the network cannot tell.
  [[nodiscard]] virtual std::optional<std::vector<std::string>> idle_units() { return std::nullopt; }
  // Add the counters of all ranks' devices. Not to be called while the engine runs.
  virtual void add_to(conduit::Counts& /*counts*/) {}
  // Null if the network has no links.
  [[nodiscard]] virtual sim::Fabric* fabric() { return nullptr; }
  // Name the network's events for a tracer. Events without a name appear as steps of a device.
  virtual void name_steps(sim::Tracer& tracer) {
    if (fabric() != nullptr) fabric()->name_steps(tracer);
  }
};

// User of a network: its own conduit, its raw programs, or a service's conduits and raw programs.
enum class Use : std::uint8_t { conduit, raw, service };

// Input of a network for a job in virtual time. It outlives the machine and the network.
struct ModelledJob {
  const Settings& settings;
  const MachineNumbers& machine;
  const std::string& network;  // its name
  Use use;
};

// Machine of one network. It first states the engine's options, then makes the network for that engine.
class ModelledMachine {
 public:
  ModelledMachine() = default;
  ModelledMachine(const ModelledMachine&) = delete;
  ModelledMachine& operator=(const ModelledMachine&) = delete;
  virtual ~ModelledMachine() = default;

  [[nodiscard]] virtual sim::EngineOptions engine_options() const = 0;
  [[nodiscard]] virtual std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const = 0;
  // How a network that offers messages matches them.
  [[nodiscard]] virtual services::MatchingParameters matching() const { return {}; }
  // Largest segment of a rank, in bytes, on the network's own conduits.
  [[nodiscard]] virtual Bytes largest_segment() const { return std::numeric_limits<Bytes>::max(); }
};

struct ModelledEntry {
  NetworkInfo info;
  std::vector<ParameterInfo> parameters;
  // Throws UsageError for options or numbers that do not fit the network or the number of ranks.
  std::unique_ptr<ModelledMachine> (*make)(const ModelledJob&) = nullptr;
  bool needs_machine = true;  // false: the network has numbers of its own
  bool threads = true;        // whether the simulation may use several threads
  Bytes header = 0;           // bytes before each message on the wire, if the machine has no link.header
  // Summary texts for conduits over services. An empty text says that the network does not offer the service.
  std::string messages;   // as in "modelled EXTOLL cards"
  bool matches = false;   // the network matches tags itself (make_two_sided)
  std::string datagrams;  // as in "modelled sockets and Ethernet"
  std::string known_as;   // name in those conduits' names, as in udp@KNOWN_AS; empty: the network's name
  std::vector<OptionInfo> service_options;  // options that the network adds to the service's
  // For tests: make an invented machine with round numbers and this many nodes. Null: the network needs no machine.
  MachineNumbers (*invented)(unsigned nodes) = nullptr;
  std::vector<ConformanceSetup> conformance{{}};  // setups of the network's own conduits
  std::vector<TrialMachine> trial_machines{};
};

// Conduits of all ranks of a job over one service, on any modelled network that offers it.
class ServiceRanks {
 public:
  ServiceRanks() = default;
  ServiceRanks(const ServiceRanks&) = delete;
  ServiceRanks& operator=(const ServiceRanks&) = delete;
  virtual ~ServiceRanks() = default;

  // Call each make function at most once for a rank.
  [[nodiscard]] virtual std::unique_ptr<conduit::Conduit> make_conduit(Rank rank) = 0;
  [[nodiscard]] virtual std::unique_ptr<Program> make_raw(Rank /*rank*/) { return nullptr; }
  // Same contract as in ModelledNetwork.
  virtual void settle(Rank rank) = 0;
  virtual void serve(Rank rank) = 0;
};

enum class Service : std::uint8_t { messages, datagrams };

struct ServiceEntry {
  std::string name;  // as in "udp": the conduits are udp@NETWORK
  Service service = Service::messages;
  std::string summary;  // as in "the udp conduit"; `over` and the network's summary text follow
  std::vector<OptionInfo> options;
  std::vector<OptionInfo> matching_options;  // added if messages are matched over a device
  std::string raw_summary;                   // summary of raw@NAME@NETWORK; empty: no raw programs
  std::vector<OptionInfo> raw_options;
  std::vector<std::string> raw;  // kernels that have a raw program
  using Make = std::unique_ptr<ServiceRanks> (*)(sim::Engine&, ModelledNetwork&, const ModelledMachine&,
                                                 const Settings&);
  Make make = nullptr;
  // Setups for tests.
  std::vector<ConformanceSetup> conformance{{}};
  Make make_for_trials = nullptr;  // starts sequence numbers close to their wrap-around; null: it has none
};

}  // namespace gasmeter::networks

#include "gasmeter/run/model_network.hpp"

#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/networks/extoll/extoll_conduit.hpp"
#include "gasmeter/networks/extoll/extoll_network.hpp"
#include "gasmeter/networks/fabric/bare_network.hpp"
#include "gasmeter/networks/ideal/ideal_conduit.hpp"
#include "gasmeter/sim/placement.hpp"
#include "gasmeter/sim/topology.hpp"

namespace gasmeter::run {
namespace {

using conduit::MachineValues;
using kernels::Program;
using kernels::Settings;

constexpr std::uint32_t kMostRanks = 65536;
constexpr std::int64_t kMostThreads = 64;

sim::EngineOptions common_options(const Settings& settings) {
  if (settings.ranks > kMostRanks) {
    throw UsageError("ranks=" + std::to_string(settings.ranks) + "; virtual time carries 1.." +
                     std::to_string(kMostRanks));
  }
  sim::EngineOptions options;
  options.ranks = settings.ranks;
  options.strict = settings.text("sync") == "strict";
  options.fibres = sim::parse_fibre_maker(settings.text("fibres"));
  options.seed = settings.seed;
  return options;
}

unsigned threads_of(const Settings& settings) {
  const std::int64_t threads = settings.integer("threads");
  if (threads < 1 || threads > kMostThreads) {
    throw UsageError("option 'threads=" + std::to_string(threads) + "': allowed are 1.." +
                     std::to_string(kMostThreads));
  }
  return static_cast<unsigned>(threads);
}

std::string take_text(MachineValues& machine, const Request& request, const std::string& key,
                      const std::string& otherwise) {
  return request.machine.contains(key) ? machine.text(key) : otherwise;
}

// Ranks on the nodes of a topology, as many routers as it takes.
struct Installation {
  sim::Topology topology;
  std::vector<std::uint32_t> node_of;

  Installation(MachineValues& machine, const Request& request)
      : topology(sim::Topology::parse(machine.text("topology"))),
        node_of(sim::Placement::parse(take_text(machine, request, "placement", "fill"))
                    .place(request.settings.ranks, topology.terminals(), machine.count("ranks_per_node"))) {}

  void place(sim::EngineOptions& options) const {
    options.nodes = topology.vertices();
    options.node_of = node_of;
  }
};

// ---- ideal

class IdealNetwork final : public ModelNetwork {
 public:
  IdealNetwork(sim::Engine& engine, const networks::ideal::IdealParameters& parameters, const Request& request)
      : engine_(engine), network_(engine, parameters), request_(request) {}

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    return std::make_unique<networks::ideal::IdealConduit>(network_, host, host.rank());
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    if (request_.kernel->make_raw_ideal == nullptr) return nullptr;
    return request_.kernel->make_raw_ideal({network_.nic(rank), engine_.host(rank), rank, engine_.ranks()},
                                           request_.settings);
  }

 private:
  sim::Engine& engine_;
  networks::ideal::IdealNetwork network_;
  const Request& request_;
};

class IdealMachine final : public ModelMachine {
 public:
  explicit IdealMachine(const Request& request) : request_(request) {
    if (request.machine.empty()) {
      prices_ = networks::ideal::ideal_prices();
      return;
    }
    MachineValues machine("ideal", request.machine);
    prices_ = networks::ideal::ideal_prices(machine);
    parameters_ = networks::ideal::IdealParameters::from(machine);
    machine.check_all_used();
  }

  sim::EngineOptions engine_options() const override {
    const Settings& settings = request_.settings;
    sim::EngineOptions options = common_options(settings);
    const std::int64_t nodes = settings.integer("nodes");
    if (nodes < 1 || nodes > static_cast<std::int64_t>(settings.ranks)) {
      throw UsageError("option 'nodes=" + std::to_string(nodes) + "': allowed are 1.." +
                       std::to_string(settings.ranks) + ", the number of ranks");
    }
    options.nodes = static_cast<unsigned>(nodes);
    options.prices = prices_;
    return options;
  }
  std::unique_ptr<ModelNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<IdealNetwork>(engine, parameters_, request_);
  }

 private:
  const Request& request_;
  conduit::HostPrices prices_;
  networks::ideal::IdealParameters parameters_;
};

// ---- fabric

class BareNetwork final : public ModelNetwork {
 public:
  BareNetwork(sim::Engine& engine, const sim::Topology& topology, const sim::LinkParameters& links,
              const Request& request)
      : engine_(engine),
        network_(engine, topology, links,
                 request.kernel->raw_plan != nullptr ? request.kernel->raw_plan(request.settings) : 0),
        request_(request) {}

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost) override { return nullptr; }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    if (request_.kernel->make_raw_fabric == nullptr) return nullptr;
    return request_.kernel->make_raw_fabric({network_.port(rank), rank, engine_.ranks()}, request_.settings);
  }
  bool record_raw(conduit::RankRecord& record) override {
    network_.port(record.rank()).record(record);
    return true;
  }
  sim::Fabric* fabric() override { return &network_.fabric(); }

 private:
  sim::Engine& engine_;
  networks::fabric::BareNetwork network_;
  const Request& request_;
};

class BareMachine final : public ModelMachine {
 public:
  BareMachine(const Request& request, MachineValues machine)
      : request_(request),
        installation_(machine, request),
        parameters_(networks::fabric::BareParameters::from(machine)) {
    machine.check_all_used();
  }

  sim::EngineOptions engine_options() const override {
    sim::EngineOptions options = common_options(request_.settings);
    options.threads = threads_of(request_.settings);
    options.prices = parameters_.prices;
    installation_.place(options);
    return options;
  }
  std::unique_ptr<ModelNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<BareNetwork>(engine, installation_.topology, parameters_.links, request_);
  }

 private:
  const Request& request_;
  Installation installation_;
  networks::fabric::BareParameters parameters_;
};

// ---- extoll

networks::extoll::AmOptions am_options(const Settings& settings) {
  using networks::extoll::AmOptions;
  AmOptions options = settings.text("am") == "1" ? AmOptions::early() : AmOptions::improved();
  const auto choose = [&settings](const char* option, const char* yes, bool& value) {
    if (settings.text(option) != "am") value = settings.text(option) == yes;
  };
  choose("sections", "packed", options.packed);
  choose("receive", "in-place", options.in_place);
  choose("send_poll", "on", options.send_poll);
  options.node_by_memory = settings.text("node_local") == "shared";
  const std::string& lock = settings.text("lock");
  if (lock == "none") options.lock = AmOptions::Lock::none;
  if (lock == "message") options.lock = AmOptions::Lock::message;
  if (lock == "packet") options.lock = AmOptions::Lock::packet;
  return options;
}

class ExtollNetwork final : public ModelNetwork {
 public:
  ExtollNetwork(sim::Engine& engine, const sim::Topology& topology,
                const networks::extoll::ExtollParameters& parameters, const Request& request)
      : engine_(engine), network_(engine, topology, parameters), request_(request) {}

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    return std::make_unique<networks::extoll::ExtollConduit>(network_, host, host.rank(),
                                                             am_options(request_.settings));
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    if (request_.kernel->make_raw_extoll == nullptr) return nullptr;
    return request_.kernel->make_raw_extoll({network_.port(rank), engine_.host(rank), rank, engine_.ranks()},
                                            request_.settings);
  }
  sim::Fabric* fabric() override { return &network_.fabric(); }

 private:
  sim::Engine& engine_;
  networks::extoll::ExtollNetwork network_;
  const Request& request_;
};

class ExtollMachine final : public ModelMachine {
 public:
  ExtollMachine(const Request& request, MachineValues machine)
      : request_(request),
        installation_(machine, request),
        prices_(conduit::host_prices(machine)),
        parameters_(
            networks::extoll::extoll_parameters(machine, prices_[conduit::SharedPrice::pio_store].per_byte_fs)) {
    machine.check_all_used();
  }

  sim::EngineOptions engine_options() const override {
    sim::EngineOptions options = common_options(request_.settings);
    options.threads = threads_of(request_.settings);
    options.prices = prices_;
    installation_.place(options);
    return options;
  }
  std::unique_ptr<ModelNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<ExtollNetwork>(engine, installation_.topology, parameters_, request_);
  }

 private:
  const Request& request_;
  Installation installation_;
  conduit::HostPrices prices_;
  networks::extoll::ExtollParameters parameters_;
};

}  // namespace

std::unique_ptr<ModelMachine> ModelMachine::of(const Request& request) {
  const std::string& network = request.conduit->network;
  if (network == "ideal") return std::make_unique<IdealMachine>(request);
  if (request.machine.empty()) {
    throw UsageError("conduit " + request.conduit->name + " needs the numbers of a machine; none were given");
  }
  if (network == "fabric") return std::make_unique<BareMachine>(request, MachineValues(network, request.machine));
  if (network == "extoll") return std::make_unique<ExtollMachine>(request, MachineValues(network, request.machine));
  throw UsageError("network " + network + " is not modelled");
}

}  // namespace gasmeter::run

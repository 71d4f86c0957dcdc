#include <memory>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/networks/ideal/ideal_conduit.hpp"
#include "gasmeter/run/machines/installation.hpp"
#include "gasmeter/run/machines/machines.hpp"

namespace gasmeter::run {
namespace {

using conduit::MachineValues;
using kernels::Program;
using kernels::Settings;

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

  void add_to(conduit::Counts& counts) override {
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      const networks::ideal::NicCounters& seen = network_.nic(Rank{rank}).counters();
      counts.add(conduit::Count::packets, seen.sent);
      counts.add(conduit::Count::packet_bytes, seen.bytes_sent);
      counts.add(conduit::Count::refusals, seen.refused);
    }
  }
  void name_steps(sim::Tracer& tracer) override { network_.name_steps(tracer); }

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

}  // namespace

std::unique_ptr<ModelMachine> make_ideal_machine(const Request& request) {
  return std::make_unique<IdealMachine>(request);
}

}  // namespace gasmeter::run

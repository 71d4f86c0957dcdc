#include <utility>

#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/networks/fabric/bare_network.hpp"
#include "gasmeter/run/machines/installation.hpp"
#include "gasmeter/run/machines/machines.hpp"

namespace gasmeter::run {
namespace {

using conduit::MachineValues;
using kernels::Program;

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
    return installation_.engine_options(request_.settings, parameters_.prices);
  }
  std::unique_ptr<ModelNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<BareNetwork>(engine, installation_.topology(), parameters_.links, request_);
  }

 private:
  const Request& request_;
  Installation installation_;
  networks::fabric::BareParameters parameters_;
};

}  // namespace

std::unique_ptr<ModelMachine> make_fabric_machine(const Request& request, MachineValues machine) {
  return std::make_unique<BareMachine>(request, std::move(machine));
}

}  // namespace gasmeter::run

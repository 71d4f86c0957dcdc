#include "model_job.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "gasmeter/run/composed_network.hpp"
#include "support/model_world.hpp"

namespace gasmeter::conformance {
namespace {

using networks::MachineNumbers;
using networks::ModelledMachine;
using networks::TrialShape;

// Return the machine's numbers for ranks in blocks, whether the network takes nodes from an option or from its
// machine.
MachineNumbers numbers(const ModelSetup& setup, const TrialShape& shape) {
  const networks::ModelledEntry& network = *setup.conduit->on;
  if (network.invented == nullptr) return setup.machine != nullptr ? setup.machine->other : MachineNumbers{};
  MachineNumbers machine = network.invented(shape.nodes);
  if (machine.contains("ranks_per_node")) {
    machine["placement"] = "fill";
    machine["ranks_per_node"] = static_cast<double>((shape.ranks + shape.nodes - 1) / shape.nodes);
  }
  if (setup.machine != nullptr) {
    for (const auto& [key, value] : setup.machine->other) machine[key] = value;
  }
  for (const auto& [key, value] : setup.other) machine[key] = value;
  return machine;
}

// Return sizes of packets, and sizes of messages at which the protocol changes.
std::vector<Bytes> limits_of(const MachineNumbers& machine) {
  std::vector<Bytes> limits;
  for (const char* const key : {"link.packet", "link.mtu", "nic.packet", "nic.inline", "hca.inline_limit", "mpi.inline",
                                "mpi.eager", "mpi.channel", "mpi.transporter"}) {
    const auto entry = machine.find(key);
    if (entry == machine.end()) continue;
    if (const double* const bytes = std::get_if<double>(&entry->second)) limits.push_back(static_cast<Bytes>(*bytes));
  }
  return limits;
}

run::Request request_of(const ModelSetup& setup, const TrialShape& shape, bool strict) {
  std::map<std::string, std::string> options = setup.setup->options;
  for (const bench::OptionInfo& option : setup.conduit->options) {
    if (option.name == "nodes") options["nodes"] = std::to_string(shape.nodes);
  }
  options["sync"] = strict ? "strict" : "lazy";
  options["neighbourhood"] = shape.neighbourhood ? "true" : "false";
  run::Request request = run::Request::for_program(setup.conduit->name, 1, shape.ranks, options);
  request.machine = numbers(setup, shape);
  return request;
}

std::unique_ptr<ModelledMachine> machine_of(const ModelSetup& setup, const run::Request& request) {
  if (setup.machine != nullptr && setup.machine->make != nullptr) {
    return setup.machine->make(run::job_of(request));
  }
  return run::machine_of(request);
}

struct ComposedShape : testing::ModelShape {
  const run::Request* request = nullptr;
  const ModelledMachine* machine = nullptr;
};

class Composed {
 public:
  static sim::EngineOptions options(const ComposedShape& shape) { return shape.machine->engine_options(); }
  Composed(sim::Engine& engine, const ComposedShape& shape)
      : network_(*shape.request, *shape.machine, engine, make_of(*shape.request->conduit)) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) { return network_.make_conduit(host); }
  void settle(Rank rank) { network_.settle(rank); }
  void serve(Rank rank) { network_.serve(rank); }

 private:
  static networks::ServiceEntry::Make make_of(const run::ConduitInfo& conduit) {
    return conduit.service != nullptr ? conduit.service->make_for_trials : nullptr;
  }

  run::ComposedNetwork network_;
};

using World = testing::ModelWorldOn<Composed, ComposedShape>;

void expect_balance(std::uint32_t rank, const conduit::FaultCounters& counters, Findings& findings, Outcome& outcome) {
  if (counters.outstanding() != 0) {
    findings.add("rank " + std::to_string(rank) + ": " + std::to_string(counters.outstanding()) +
                 " prepared messages were neither sent nor given back");
  }
  outcome.acquisitions = std::max(outcome.acquisitions, counters.acquisitions);
  outcome.injected += counters.injected;
}

}  // namespace

Outcome ModelJob::run(const Case<sim::ModelHost>& test) {
  const run::Request request = request_of(setup_, shape_, strict_);
  const std::unique_ptr<ModelledMachine> machine = machine_of(setup_, request);
  const ComposedShape shape{{shape_.ranks, shape_.nodes, shape_.neighbourhood, strict_, test.shape.segment_bytes,
                             test.shape.ring_bytes, request.polls_at_injection(), request.forms()},
                            &request,
                            machine.get()};
  std::vector<conduit::FaultInjectingConduit*> faults;
  World world(shape, [&](conduit::Conduit& inner) {
    auto wrapped = std::make_unique<conduit::FaultInjectingConduit>(inner, plan_);
    faults.push_back(wrapped.get());
    return wrapped;
  });
  const std::vector<Bytes> limits = limits_of(request.machine);
  Findings findings;
  Board board{};
  Outcome outcome;
  outcome.clocks_ps.resize(shape_.ranks);
  outcome.traces.resize(shape_.ranks);
  try {
    world.run([&](core::Endpoint<sim::ModelHost>& endpoint) {
      Member<sim::ModelHost> member(endpoint, findings, board);
      member.conduit = faults[member.self()];
      member.limits = limits;
      member.meanwhile = [&world, rank = endpoint.rank()] { world.installation().serve(rank); };
      test.body(member);
      outcome.clocks_ps[member.self()] = endpoint.host().now().ps;
      outcome.traces[member.self()] = member.trace();
    });
    for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) {
      expect_nothing_left(world.endpoint(rank), findings);
      expect_balance(rank, faults[rank]->counters(), findings, outcome);
    }
  } catch (const std::exception& error) {
    findings.add(std::string("a rank left the case with: ") + error.what());
  }
  outcome.failures = findings.take();
  return outcome;
}

}  // namespace gasmeter::conformance

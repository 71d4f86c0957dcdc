// The modelled networks, as a job in virtual time uses them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/conduit/recording.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/run/request.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/fabric.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::run {

// One network for one engine.
class ModelNetwork {
 public:
  ModelNetwork() = default;
  ModelNetwork(const ModelNetwork&) = delete;
  ModelNetwork& operator=(const ModelNetwork&) = delete;
  virtual ~ModelNetwork() = default;

  // Null where the network has no conduit of its own.
  [[nodiscard]] virtual std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) = 0;
  // Null where the kernel has no program on the network's own interface.
  [[nodiscard]] virtual std::unique_ptr<kernels::Program> make_raw(Rank rank) = 0;
  // On a rank's own fibre when it has ended a block: sends what its peers may still lack, since nobody polls until the
  // next.
  virtual void settle(Rank /*rank*/) {}
  // Writes down what a raw program does. False where the network cannot.
  [[nodiscard]] virtual bool record_raw(conduit::RankRecord&) { return false; }
  // Keys of the machine that nothing has depended on so far: with other values in their place all would have come to
  // the same picoseconds. A network that cannot tell names none.
  [[nodiscard]] virtual std::vector<std::string> unused_keys() const { return {}; }
  // Adds what its devices have counted, of all ranks; not while the engine runs.
  virtual void add_to(conduit::Counts& /*counts*/) {}
  // Null where it has no links.
  [[nodiscard]] virtual sim::Fabric* fabric() { return nullptr; }
  // Tells a tracer what its events are; those it does not name are steps of a device.
  virtual void name_steps(sim::Tracer& tracer) {
    if (fabric() != nullptr) fabric()->name_steps(tracer);
  }
};

// A machine as a request describes it: the engine it needs, and then the network for that engine.
class ModelMachine {
 public:
  virtual ~ModelMachine() = default;
  [[nodiscard]] virtual sim::EngineOptions engine_options() const = 0;
  [[nodiscard]] virtual std::unique_ptr<ModelNetwork> make_network(sim::Engine& engine) const = 0;

  // Throws UsageError for options and numbers that fit neither the network nor the ranks. The request outlives it.
  [[nodiscard]] static std::unique_ptr<ModelMachine> of(const Request& request);

 protected:
  ModelMachine() = default;
  ModelMachine(const ModelMachine&) = default;
  ModelMachine& operator=(const ModelMachine&) = default;
};

}  // namespace gasmeter::run

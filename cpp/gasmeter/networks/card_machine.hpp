// The part that modelled networks of nodes with cards have in common: CardMachine reads a machine and the options by
// the network's tables, CardNetwork holds the network, described() registers both.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gasmeter/networks/installation.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/modelled_network.hpp"
#include "gasmeter/networks/option_table.hpp"
#include "gasmeter/networks/parameter_table.hpp"

namespace gasmeter::networks {

// State that ranks share, of a network whose ranks share none.
struct NothingShared {
  explicit NothingShared(unsigned /*ranks*/) {}
};

// Input of a network: numbers and options as its tables have read them.
template <class Numbers, class Options>
struct Setup {
  const Settings& settings;
  const sim::Topology& topology;
  Numbers numbers;
  Options options;
};

// Base of a network with the device model `Device`. `Numbers` derive from HostNumbers. `Shared` is made from the number
// of ranks. A function ParameterTable table(Numbers&) beside `Numbers` lists the keys of machines. The derived class
// `Modelled` has a constructor (sim::Engine&, const Setup&) and a static function OptionTable options(Options&, Use),
// which lists the options of a use. Its complete(Setup&), if any, sets what follows from numbers and options together,
// and throws UsageError for those that do not fit each other.
template <class Device, class Numbers_, class Options_, class Shared = NothingShared>
class CardNetwork : public ModelledNetwork {
 public:
  using Numbers = Numbers_;
  using Options = Options_;
  using Setup = networks::Setup<Numbers, Options>;

  static void complete(Setup& /*setup*/) {}

  sim::Fabric* fabric() override { return &network_.fabric(); }

 protected:
  // `parameters` are those of the device's constructor, after engine and topology.
  template <class... Parameters>
  CardNetwork(sim::Engine& engine, const Setup& setup, Parameters&&... parameters)
      : engine_(engine),
        options_(setup.options),
        settings_(setup.settings),
        shared_(engine.ranks()),
        network_(engine, setup.topology, std::forward<Parameters>(parameters)...) {}

  template <class Each>
  void each_rank(Each each) const {
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) each(Rank{rank});
  }

  sim::Engine& engine_;
  Options options_;
  const Settings& settings_;
  Shared shared_;  // must outlive the ranks' programs, which network_'s destructor cancels
  Device network_;
};

// Machine of a network with cards.
template <class Modelled>
class CardMachine : public ModelledMachine {
 public:
  using Options = typename Modelled::Options;

  // `options`: values of options that users do not have.
  explicit CardMachine(const ModelledJob& job, const Options& options = {})
      : CardMachine(job, options, conduit::MachineValues(job.network, job.machine)) {}

  [[nodiscard]] sim::EngineOptions engine_options() const override {
    return installation_.engine_options(setup_.settings, setup_.numbers.prices);
  }
  [[nodiscard]] std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<Modelled>(engine, setup_);
  }
  [[nodiscard]] services::MatchingParameters matching() const override { return setup_.numbers.matching; }

 protected:
  [[nodiscard]] const typename Modelled::Setup& setup() const { return setup_; }

 private:
  CardMachine(const ModelledJob& job, const Options& options, conduit::MachineValues machine)
      : installation_(machine, job), setup_{job.settings, installation_.topology(), {}, options} {
    take(machine, setup_.numbers);
    machine.check_all_used();
    Modelled::options(setup_.options, job.use).read(job.settings);
    Modelled::complete(setup_);
  }

  Installation installation_;
  typename Modelled::Setup setup_;
};

// Return the network's options for a use, as they are listed.
template <class Modelled>
[[nodiscard]] std::vector<OptionInfo> listed_options(Use use) {
  typename Modelled::Options options;
  return Modelled::options(options, use).infos();
}

// Return the entry of a network: the parameters, options and maker. `conduits` come without their options.
template <class Modelled, class Machine = CardMachine<Modelled>>
[[nodiscard]] ModelledEntry described(NetworkInfo info) {
  ModelledEntry entry;
  typename Modelled::Numbers numbers;
  for (Access& conduit : info.conduits) conduit.options = listed_options<Modelled>(Use::conduit);
  info.raw_options = listed_options<Modelled>(Use::raw);
  entry.info = std::move(info);
  entry.service_options = listed_options<Modelled>(Use::service);
  entry.parameters = table(numbers).infos();
  entry.make = [](const ModelledJob& job) -> std::unique_ptr<ModelledMachine> {
    return std::make_unique<Machine>(job);
  };
  entry.invented = [](unsigned nodes) {
    typename Modelled::Numbers any;
    return table(any).invented(nodes);
  };
  return entry;
}

}  // namespace gasmeter::networks

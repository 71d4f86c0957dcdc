#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/networks/ibv/ibv_conduit.hpp"
#include "gasmeter/networks/ibv/ibv_messages.hpp"
#include "gasmeter/networks/ibv/ibv_network.hpp"
#include "gasmeter/run/machines/installation.hpp"
#include "gasmeter/run/machines/machines.hpp"
#include "gasmeter/run/machines/two_sided_ranks.hpp"
#include "gasmeter/services/matched_messages.hpp"

namespace gasmeter::run {
namespace {

using conduit::MachineValues;
using kernels::Program;

class IbvNetwork final : public ModelNetwork {
 public:
  IbvNetwork(sim::Engine& engine, const sim::Topology& topology, const networks::ibv::IbvParameters& parameters,
             const services::MatchingParameters& matching, const Request& request)
      : engine_(engine), network_(engine, topology, parameters), eager_(matching.eager), request_(request) {
    if (is_two_sided(request)) two_sided_.emplace(engine, matching, request);
  }

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    if (two_sided_) return two_sided_->make_conduit(host.rank(), make_messages(host.rank()));
    networks::ibv::IbvLimits limits;
    limits.card_atomics = request_.settings.text("atomics") == "card";
    return std::make_unique<networks::ibv::IbvConduit>(network_.context(host.rank()), host, engine_.ranks(), limits);
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    if (two_sided_) return two_sided_->make_raw(rank, make_messages(rank));
    if (request_.kernel->make_raw_ibv == nullptr) return nullptr;
    return request_.kernel->make_raw_ibv({network_.context(rank), engine_.host(rank), rank, engine_.ranks()},
                                         request_.settings);
  }
  void settle(Rank rank) override {
    if (two_sided_) two_sided_->settle(rank);
  }
  std::vector<std::string> unused_keys() const override {
    const conduit::Charges charges = engine_.charges();
    std::vector<std::string> keys = conduit::uncharged_host_keys(charges);
    for (std::string& key : services::unused_matching_keys(charges, two_sided_.has_value())) {
      keys.push_back(std::move(key));
    }
    return keys;
  }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      const networks::ibv::ContextCounters& seen = network_.context(Rank{rank}).counters();
      counts.add(Count::commands, seen.posted);
      counts.add(Count::refusals, seen.refused);
      counts.add(Count::not_ready, seen.not_ready);
      counts.add(Count::retransmits, seen.sent_again);
    }
  }
  sim::Fabric* fabric() override { return &network_.fabric(); }

 private:
  std::unique_ptr<services::MessageDevice> make_messages(Rank rank) {
    return std::make_unique<networks::ibv::IbvMessages>(network_.context(rank), engine_.host(rank), engine_.ranks(),
                                                        eager_);
  }

  sim::Engine& engine_;
  networks::ibv::IbvNetwork network_;
  Bytes eager_;
  const Request& request_;
  std::optional<TwoSidedRanks> two_sided_;
};

class IbvMachine final : public ModelMachine {
 public:
  IbvMachine(const Request& request, MachineValues machine)
      : request_(request),
        installation_(machine, request),
        prices_(conduit::host_prices(machine)),
        parameters_(networks::ibv::ibv_parameters(machine, prices_[conduit::SharedPrice::pio_store].per_byte_fs)),
        matching_(services::matching_parameters(machine, prices_)) {
    machine.check_all_used();
  }

  sim::EngineOptions engine_options() const override {
    return installation_.engine_options(request_.settings, prices_);
  }
  std::unique_ptr<ModelNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<IbvNetwork>(engine, installation_.topology(), parameters_, matching_, request_);
  }

 private:
  const Request& request_;
  Installation installation_;
  conduit::HostPrices prices_;
  networks::ibv::IbvParameters parameters_;
  services::MatchingParameters matching_;
};

}  // namespace

std::unique_ptr<ModelMachine> make_ibv_machine(const Request& request, MachineValues machine) {
  return std::make_unique<IbvMachine>(request, std::move(machine));
}

}  // namespace gasmeter::run

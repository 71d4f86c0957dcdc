#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/networks/extoll/extoll_conduit.hpp"
#include "gasmeter/networks/extoll/extoll_messages.hpp"
#include "gasmeter/networks/extoll/extoll_network.hpp"
#include "gasmeter/run/machines/installation.hpp"
#include "gasmeter/run/machines/machines.hpp"
#include "gasmeter/run/machines/two_sided_ranks.hpp"
#include "gasmeter/services/matched_messages.hpp"

namespace gasmeter::run {
namespace {

using conduit::MachineValues;
using kernels::Program;
using kernels::Settings;

networks::extoll::AmOptions am_options(const Settings& settings) {
  using networks::extoll::AmOptions;
  AmOptions options = settings.text("am") == "1" ? AmOptions::early() : AmOptions::improved();
  const auto choose = [&settings](const char* option, const char* yes, bool& value) {
    if (settings.text(option) != "am") value = settings.text(option) == yes;
  };
  choose("sections", "packed", options.packed);
  choose("receive", "in-place", options.in_place);
  choose("send_poll", "on", options.send_poll);
  const std::int64_t outstanding = settings.integer("outstanding");
  if (outstanding < 0 || outstanding > 65535) {
    throw UsageError("option 'outstanding=" + settings.text("outstanding") +
                     "': allowed are 1 to 65535 requests, and 0 for any number");
  }
  options.outstanding = static_cast<unsigned>(outstanding);
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
                const networks::extoll::ExtollParameters& parameters, const services::MatchingParameters& matching,
                const Request& request)
      : engine_(engine), network_(engine, topology, parameters), request_(request) {
    if (is_two_sided(request)) two_sided_.emplace(engine, matching, request);
  }

  std::unique_ptr<conduit::Conduit> make_conduit(sim::ModelHost host) override {
    if (two_sided_) return two_sided_->make_conduit(host.rank(), make_messages(host.rank()));
    return std::make_unique<networks::extoll::ExtollConduit>(network_, host, host.rank(),
                                                             am_options(request_.settings));
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    if (two_sided_) return two_sided_->make_raw(rank, make_messages(rank));
    if (request_.kernel->make_raw_extoll == nullptr) return nullptr;
    return request_.kernel->make_raw_extoll({network_.port(rank), engine_.host(rank), rank, engine_.ranks()},
                                            request_.settings);
  }
  void settle(Rank rank) override {
    if (two_sided_) two_sided_->settle(rank);
  }
  std::vector<std::string> unused_keys() const override {
    const conduit::Charges charges = engine_.charges();
    std::vector<std::string> keys = conduit::uncharged_host_keys(charges);
    for (std::string& key : network_.unused_keys()) keys.push_back(std::move(key));
    for (std::string& key : services::unused_matching_keys(charges, two_sided_.has_value())) {
      keys.push_back(std::move(key));
    }
    return keys;
  }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      const networks::extoll::PortCounters& seen = network_.port(Rank{rank}).counters();
      counts.add(Count::packets, seen.velo_sent);
      counts.add(Count::commands, seen.puts + seen.gets);
      counts.add(Count::refusals, seen.refused);
      counts.add(Count::held, seen.velo_held + seen.held_back);
      counts.add(Count::drops, seen.velo_dropped);
    }
  }
  sim::Fabric* fabric() override { return &network_.fabric(); }
  void name_steps(sim::Tracer& tracer) override {
    ModelNetwork::name_steps(tracer);
    networks::extoll::Outlet::name_steps(tracer);
  }

 private:
  std::unique_ptr<services::MessageDevice> make_messages(Rank rank) {
    return std::make_unique<networks::extoll::ExtollMessages>(network_.port(rank), engine_.host(rank));
  }

  sim::Engine& engine_;
  networks::extoll::ExtollNetwork network_;
  const Request& request_;
  std::optional<TwoSidedRanks> two_sided_;
};

class ExtollMachine final : public ModelMachine {
 public:
  ExtollMachine(const Request& request, MachineValues machine)
      : request_(request),
        installation_(machine, request),
        prices_(conduit::host_prices(machine)),
        parameters_(networks::extoll::extoll_parameters(machine, prices_[conduit::SharedPrice::pio_store].per_byte_fs)),
        matching_(services::matching_parameters(machine, prices_)) {
    machine.check_all_used();
  }

  sim::EngineOptions engine_options() const override {
    return installation_.engine_options(request_.settings, prices_);
  }
  std::unique_ptr<ModelNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<ExtollNetwork>(engine, installation_.topology(), parameters_, matching_, request_);
  }

 private:
  const Request& request_;
  Installation installation_;
  conduit::HostPrices prices_;
  networks::extoll::ExtollParameters parameters_;
  services::MatchingParameters matching_;
};

}  // namespace

std::unique_ptr<ModelMachine> make_extoll_machine(const Request& request, MachineValues machine) {
  return std::make_unique<ExtollMachine>(request, std::move(machine));
}

}  // namespace gasmeter::run

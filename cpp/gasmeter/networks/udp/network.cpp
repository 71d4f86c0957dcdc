// Registration of the udp network of this host's sockets, and of the udp conduit over modelled datagrams.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/networks/registry.hpp"
#include "gasmeter/networks/udp/over_datagrams.hpp"
#include "gasmeter/networks/udp/raw/programs.hpp"
#include "gasmeter/networks/udp/real_udp.hpp"

namespace gasmeter::networks {
namespace udp {
namespace {

// Setups without losses, with losses by plan, and with losses for lack of buffers.
std::vector<ConformanceSetup> conformance() {
  const std::vector<TrialPlan> once_on_two = {{Trial::plain, {{2, 2}}}};
  const std::vector<TrialPlan> once_on_three = {{Trial::plain, {{3, 3}}}};
  const std::string overflow = "rings and buffers overflow";
  return {
      {.trials = {{Trial::compared}}},
      {.name = "lossy",
       .options = {{"loss", "0.2"}, {"dup", "0.1"}, {"reorder", "0.1"}, {"delay_us", "20"}},
       .trials = once_on_two},
      {.name = overflow, .machine = "tight", .trials = once_on_three},
      {.family = "amudp", .options = {{"protocol", "amudp"}}, .trials = {{Trial::compared}}, .repeats = true},
      {.name = "lossy",
       .family = "amudp",
       .options = {{"protocol", "amudp"}, {"loss", "0.1"}, {"dup", "0.1"}, {"delay_us", "20"}},
       .trials = once_on_two,
       .repeats = true},
      {.name = overflow,
       .family = "amudp",
       .machine = "tight, large datagrams",
       .options = {{"protocol", "amudp"}},
       .trials = once_on_three,
       .repeats = true},
  };
}

}  // namespace
}  // namespace udp

void register_udp(Registry& registry) {
  using namespace udp;
  RealEntry real;
  real.info = {
      .name = "udp",
      .summary = "one unconnected UDP socket a rank, without the library",
      .conduits = {{"udp", "exactly-once messages, puts and gets over this host's UDP sockets", RealUdp::options()}},
      .raw_options = {},
      .raw = listed(raw::programs())};
  real.open = [](const RealJob& job) -> std::unique_ptr<RealNetwork> { return std::make_unique<RealUdp>(job); };
  real.spans_hosts = true;
  registry.add(std::move(real));

  ServiceEntry modelled;
  modelled.name = "udp";
  modelled.service = Service::datagrams;
  modelled.summary = "the udp conduit";
  modelled.options = OverDatagrams::options();
  modelled.make = [](sim::Engine& engine, ModelledNetwork& network, const ModelledMachine& /*machine*/,
                     const Settings& settings) -> std::unique_ptr<ServiceRanks> {
    return std::make_unique<OverDatagrams>(engine, network, settings);
  };
  modelled.conformance = conformance();
  modelled.make_for_trials = [](sim::Engine& engine, ModelledNetwork& network, const ModelledMachine& /*machine*/,
                                const Settings& settings) -> std::unique_ptr<ServiceRanks> {
    return std::make_unique<OverDatagrams>(engine, network, settings, ~std::uint64_t{0} - 20);
  };
  registry.add(std::move(modelled));
}

}  // namespace gasmeter::networks

// UDP to the rest of the library: this host's sockets, and a conduit over modelled ones.
#include <memory>
#include <utility>

#include "gasmeter/networks/registry.hpp"
#include "gasmeter/networks/udp/over_datagrams.hpp"
#include "gasmeter/networks/udp/raw/programs.hpp"
#include "gasmeter/networks/udp/real_udp.hpp"

namespace gasmeter::networks {

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
  registry.add(std::move(modelled));
}

}  // namespace gasmeter::networks

// The udp conduit over modelled sockets for ModelWorldOn.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "gasmeter/networks/ethernet/ethernet_datagrams.hpp"
#include "gasmeter/networks/udp/amudp_conduit.hpp"
#include "gasmeter/networks/udp/settle.hpp"
#include "gasmeter/networks/udp/udp_conduit.hpp"
#include "networks/ethernet/world.hpp"
#include "support/model_world.hpp"

namespace gasmeter::testing {

enum class Trouble : std::uint8_t {
  none,
  overflow,  // rings and buffers that hold very little
};

template <bool Classic, Trouble What>
class EthernetInstallationOf {
 public:
  using Conduit = std::conditional_t<Classic, networks::udp::BasicAmudpConduit<sim::ModelHost>,
                                     networks::udp::BasicUdpConduit<sim::ModelHost>>;

  static sim::EngineOptions options(const ModelShape& shape) {
    return networks::ethernet::testing::World::options(
        {.ranks = shape.ranks, .topology = topology(shape), .strict = shape.strict});
  }
  EthernetInstallationOf(sim::Engine& engine, const ModelShape& shape)
      : network_(engine, sim::Topology::parse(topology(shape)), parameters()), settle_(shape.ranks) {}

  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    auto& service = sockets_.emplace_back(network_, host.rank(), Classic ? services::kLargestDatagram : 0);
    networks::udp::UdpSettings settings;
    settings.key = {0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL};
    settings.session = 77;
    settings.first_sequence = ~std::uint64_t{0} - 20;  // it wraps around soon
    auto made =
        std::make_unique<Conduit>(host, service, host.rank(), host.engine().ranks(), std::span<std::byte>{}, settings);
    conduits_.push_back(made.get());
    settle_[index(host.rank())] = [host, conduit = made.get()] {
      networks::udp::settle(*conduit, host, Classic ? networks::udp::kClassicSilence : networks::udp::kWindowSilence);
    };
    return made;
  }
  void settle(Rank rank) { settle_[index(rank)](); }
  [[nodiscard]] const Conduit& conduit_of(Rank rank) const { return *conduits_[index(rank)]; }
  [[nodiscard]] networks::ethernet::EthernetNetwork& network() { return network_; }

 private:
  static std::string topology(const ModelShape& shape) { return "crossbar:" + std::to_string(shape.nodes); }
  static networks::ethernet::EthernetParameters parameters() {
    networks::ethernet::EthernetParameters result;
    if (What == Trouble::overflow) {
      result.ring = Classic ? 64 : 4;
      result.send_buffer = 4'000;
      result.receive_buffer = Classic ? 66'500 : 4'000;
    }
    return result;
  }

  networks::ethernet::EthernetNetwork network_;
  std::deque<networks::ethernet::EthernetDatagrams> sockets_;
  std::vector<std::function<void()>> settle_;
  std::vector<const Conduit*> conduits_;  // in the order of ranks
};

}  // namespace gasmeter::testing

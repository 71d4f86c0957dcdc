#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/networks/ethernet/ethernet_datagrams.hpp"
#include "gasmeter/networks/ethernet/ethernet_network.hpp"
#include "gasmeter/networks/ethernet/raw_socket.hpp"
#include "gasmeter/networks/udp/amudp_conduit.hpp"
#include "gasmeter/networks/udp/settle.hpp"
#include "gasmeter/networks/udp/udp_conduit.hpp"
#include "gasmeter/run/impairment.hpp"
#include "gasmeter/run/machines/installation.hpp"
#include "gasmeter/run/machines/machines.hpp"
#include "gasmeter/services/impaired_datagrams.hpp"

namespace gasmeter::run {
namespace {

using conduit::MachineValues;
using kernels::Program;
using kernels::Settings;
using networks::ethernet::EthernetDatagrams;
using networks::ethernet::EthernetNetwork;
using networks::ethernet::EthernetParameters;
using networks::ethernet::RawSocket;
using networks::ethernet::Waiting;
using sim::ModelHost;

using WindowConduit = networks::udp::BasicUdpConduit<ModelHost>;
using ClassicConduit = networks::udp::BasicAmudpConduit<ModelHost>;

Waiting waiting_of(const Settings& settings) {
  return settings.text("wait") == "sleep" ? Waiting::sleep : Waiting::spin;
}

// Option datagram; 0: what the protocol used. The classic one left it to IP to cut what is large.
Bytes largest_datagram(const Settings& settings) {
  const std::int64_t largest = settings.integer("datagram");
  if (largest < 0 || largest > static_cast<std::int64_t>(services::kLargestDatagram)) {
    throw UsageError("option datagram=" + std::to_string(largest) + ": allowed are 0.." +
                     std::to_string(services::kLargestDatagram) + " bytes");
  }
  if (largest == 0 && settings.text("protocol") == "amudp") return services::kLargestDatagram;
  return static_cast<Bytes>(largest);
}

class EthernetInstallation final : public ModelNetwork {
 public:
  EthernetInstallation(sim::Engine& engine, const sim::Topology& topology, const EthernetParameters& parameters,
                       const Request& request)
      : engine_(engine),
        network_(engine, topology, parameters, waiting_of(request.settings)),
        request_(request),
        settle_(engine.ranks()) {}

  std::unique_ptr<conduit::Conduit> make_conduit(ModelHost host) override {
    const Settings& settings = request_.settings;
    services::DatagramService* service = &sockets_.emplace_back(network_, host.rank(), largest_datagram(settings));
    if (const services::Impairment plan = impairment_of(settings, host.rank()); plan.any()) {
      service = &impaired_.emplace_back(*service, plan, [host] { return host.now(); });
    }
    if (settings.text("protocol") == "amudp") {
      return make<ClassicConduit>(host, *service, networks::udp::kClassicSilence);
    }
    return make<WindowConduit>(host, *service, networks::udp::kWindowSilence);
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    if (request_.kernel->make_raw_ethernet == nullptr) return nullptr;
    RawSocket& socket = raw_.emplace_back(network_, rank, engine_.ranks());
    return request_.kernel->make_raw_ethernet({socket, rank, engine_.ranks(), [&socket] { socket.barrier(); }},
                                              request_.settings);
  }
  void settle(Rank rank) override {
    if (settle_[index(rank)]) settle_[index(rank)]();
  }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    const networks::ethernet::EthernetCounters seen = network_.counters();
    counts.add(Count::packets, seen.packets);
    counts.add(Count::drops, seen.ring_drops + seen.overflow_drops);
    counts.add(Count::interrupts, seen.interrupts);
  }
  sim::Fabric* fabric() override { return &network_.fabric(); }
  void name_steps(sim::Tracer& tracer) override { network_.name_steps(tracer); }

 private:
  // No stranger sends here: the hash costs no time, and its key is no secret.
  template <class Conduit>
  std::unique_ptr<conduit::Conduit> make(ModelHost host, services::DatagramService& service, SimTime silence) {
    networks::udp::UdpSettings settings;
    settings.key = {0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL};
    settings.session = 1;
    // What turns bits may turn any of them.
    if (request_.settings.number("corrupt") > 0) settings.covers = networks::udp::Authentication::payload;
    auto made =
        std::make_unique<Conduit>(host, service, host.rank(), engine_.ranks(), std::span<std::byte>{}, settings);
    settle_[index(host.rank())] = [host, silence, conduit = made.get()] {
      networks::udp::settle(*conduit, host, silence);
    };
    return made;
  }

  sim::Engine& engine_;
  EthernetNetwork network_;
  const Request& request_;
  std::deque<EthernetDatagrams> sockets_;
  std::deque<services::ImpairedDatagrams> impaired_;
  std::deque<RawSocket> raw_;
  std::vector<std::function<void()>> settle_;  // of each rank; empty on raw sockets
};

class EthernetMachine final : public ModelMachine {
 public:
  EthernetMachine(const Request& request, MachineValues machine)
      : request_(request),
        installation_(machine, request),
        prices_(networks::ethernet::socket_host_prices(machine)),
        parameters_(networks::ethernet::ethernet_parameters(machine)) {
    const unsigned factor = machine.count("host.caches_off");
    if (!request.settings.flag("caches")) networks::ethernet::switch_caches_off(factor, prices_, parameters_);
    machine.check_all_used();
  }

  sim::EngineOptions engine_options() const override {
    return installation_.engine_options(request_.settings, prices_);
  }
  std::unique_ptr<ModelNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<EthernetInstallation>(engine, installation_.topology(), parameters_, request_);
  }

 private:
  const Request& request_;
  Installation installation_;
  conduit::HostPrices prices_;
  EthernetParameters parameters_;
};

}  // namespace

std::unique_ptr<ModelMachine> make_ethernet_machine(const Request& request, MachineValues machine) {
  return std::make_unique<EthernetMachine>(request, std::move(machine));
}

}  // namespace gasmeter::run

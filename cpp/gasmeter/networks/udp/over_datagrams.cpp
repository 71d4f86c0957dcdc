#include "gasmeter/networks/udp/over_datagrams.hpp"

#include <cstddef>
#include <span>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/udp/amudp_conduit.hpp"
#include "gasmeter/networks/udp/impairment_options.hpp"
#include "gasmeter/networks/udp/settle.hpp"
#include "gasmeter/networks/udp/udp_conduit.hpp"

namespace gasmeter::networks::udp {
namespace {

using sim::ModelHost;

using WindowConduit = BasicUdpConduit<ModelHost>;
using ClassicConduit = BasicAmudpConduit<ModelHost>;

// Read option datagram; 0 means the protocol's default. The classic protocol left the cutting of large datagrams to IP.
Bytes largest_datagram(const Settings& settings) {
  const std::int64_t largest = settings.integer("datagram");
  if (largest < 0 || largest > static_cast<std::int64_t>(services::kLargestDatagram)) {
    throw UsageError("option datagram=" + std::to_string(largest) + ": allowed are 0.." +
                     std::to_string(services::kLargestDatagram) + " bytes");
  }
  if (largest == 0 && settings.text("protocol") == "amudp") return services::kLargestDatagram;
  return static_cast<Bytes>(largest);
}

}  // namespace

OverDatagrams::OverDatagrams(sim::Engine& engine, ModelledNetwork& network, const Settings& settings,
                             std::uint64_t first_sequence)
    : engine_(engine),
      network_(network),
      settings_(settings),
      first_sequence_(first_sequence),
      members_(engine.ranks()) {}

std::unique_ptr<conduit::Conduit> OverDatagrams::make_conduit(Rank rank) {
  const ModelHost host = engine_.host(rank);
  Member& member = members_[index(rank)];
  member.sockets = network_.make_datagrams(rank, largest_datagram(settings_));
  services::DatagramService* service = member.sockets.get();
  if (const services::Impairment plan = impairment_of(settings_, rank); plan.any()) {
    member.impaired = std::make_unique<services::ImpairedDatagrams>(*service, plan, [host] { return host.now(); });
    service = member.impaired.get();
  }
  if (settings_.text("protocol") == "amudp") return make<ClassicConduit>(host, *service, kClassicSilence);
  return make<WindowConduit>(host, *service, kWindowSilence);
}

void OverDatagrams::settle(Rank rank) {
  if (members_[index(rank)].settle) members_[index(rank)].settle();
}

void OverDatagrams::serve(Rank rank) {
  if (members_[index(rank)].serve) members_[index(rank)].serve();
}

std::vector<OptionInfo> OverDatagrams::options() {
  std::vector<OptionInfo> all = impairment_options();
  all.push_back(
      {"datagram", "int", "0", "B", {}, "the largest; 0: one packet (window), or the largest of UDP's (amudp)"});
  all.push_back({"protocol", "choice", "window", "", {"window", "amudp"}, "amudp: the classic scheme of 2003 to 2016"});
  return all;
}

// No stranger sends in a model, so the hash costs no time and its key is no secret.
template <class Conduit>
std::unique_ptr<conduit::Conduit> OverDatagrams::make(ModelHost host, services::DatagramService& service,
                                                      SimTime silence) {
  UdpSettings chosen;
  chosen.key = {0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL};
  chosen.session = 1;
  chosen.first_sequence = first_sequence_;
  // A network that corrupts by plan may change any bit, so the hash must cover the payload.
  if (settings_.number("corrupt") > 0) chosen.covers = Authentication::payload;
  auto made = std::make_unique<Conduit>(host, service, host.rank(), engine_.ranks(), std::span<std::byte>{}, chosen);
  Member& member = members_[index(host.rank())];
  member.settle = [host, silence, conduit = made.get()] { udp::settle(*conduit, host, silence); };
  member.serve = [conduit = made.get()] { conduit->serve(); };
  return made;
}

}  // namespace gasmeter::networks::udp

// Registration of modelled sockets over Ethernet and over InfiniBand: services, options, parameters, raw programs.
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/networks/card_machine.hpp"
#include "gasmeter/networks/ethernet/ethernet_datagrams.hpp"
#include "gasmeter/networks/ethernet/ethernet_network.hpp"
#include "gasmeter/networks/ethernet/raw/programs.hpp"
#include "gasmeter/networks/ethernet/uncached.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace ethernet {
namespace {

struct Options {
  bool caches = true;
  Waiting waiting = Waiting::spin;
};

class Modelled final : public CardNetwork<EthernetNetwork, EthernetNumbers, Options> {
 public:
  Modelled(sim::Engine& engine, const Setup& setup)
      : CardNetwork(engine, setup, setup.numbers.device, setup.options.waiting) {}

  static OptionTable options(Options& o, Use /*use*/) {
    OptionTable table;
    table.flag("caches", o.caches, "false: the processors' caches are switched off, as in an old experiment");
    table.choice("wait", o.waiting, {{"spin", Waiting::spin}, {"sleep", Waiting::sleep}},
                 "what a rank does that waits for a datagram");
    return table;
  }
  static void complete(Setup& setup) {
    auto& [settings, topology, numbers, options] = setup;
    if (!options.caches) switch_caches_off(numbers.uncached, numbers.prices, numbers.device);
  }

  std::unique_ptr<services::DatagramService> make_datagrams(Rank rank, Bytes largest) override {
    return std::make_unique<EthernetDatagrams>(network_, rank, largest);
  }
  std::unique_ptr<Program> make_raw(Rank rank) override {
    RawSocket& socket = raw_.emplace_back(network_, rank, engine_.ranks());
    return networks::make_raw<raw::Context>(
        raw::programs(), {socket, rank, engine_.ranks(), [&socket] { socket.barrier(); }}, settings_);
  }
  void add_to(conduit::Counts& counts) override {
    using conduit::Count;
    const EthernetCounters seen = network_.counters();
    counts.add(Count::packets, seen.packets);
    counts.add(Count::drops, seen.ring_drops + seen.overflow_drops);
    counts.add(Count::interrupts, seen.interrupts);
  }
  void name_steps(sim::Tracer& tracer) override { network_.name_steps(tracer); }

 private:
  std::deque<RawSocket> raw_;
};

class Machine final : public CardMachine<Modelled> {
 public:
  using CardMachine::CardMachine;
  // Waits end in the middle of a poll. A look at a socket is a system call, so its phase would show in results. On a
  // real machine that phase is random.
  sim::EngineOptions engine_options() const override {
    sim::EngineOptions engine = CardMachine::engine_options();
    engine.waits = setup().options.waiting == Waiting::sleep ? sim::Waits::asleep : sim::Waits::mid_poll;
    return engine;
  }
};

ModelledEntry entry_of(const std::string& name, const std::string& summary) {
  return described<Modelled, Machine>(
      {.name = name, .summary = summary, .conduits = {}, .raw_options = {}, .raw = listed(raw::programs())});
}

}  // namespace
}  // namespace ethernet

void register_ethernet(Registry& registry) {
  using namespace ethernet;
  ModelledEntry ethernet = entry_of("ethernet", "one modelled UDP socket a rank, without the library");
  ethernet.datagrams = "modelled sockets and Ethernet";
  // Trial machines whose rings and buffers hold one or two packets, or just the packets of one largest datagram.
  ethernet.trial_machines = {
      {.name = "tight",
       .other = {{"nic.ring", 4.0}, {"kernel.send_buffer", 4000.0}, {"kernel.receive_buffer", 4000.0}}},
      {.name = "tight, large datagrams",
       .other = {{"nic.ring", 64.0}, {"kernel.send_buffer", 4000.0}, {"kernel.receive_buffer", 66500.0}}}};
  registry.add(std::move(ethernet));

  // The same code as ethernet. It has no invented machine: the conformance suite runs the conduit over Ethernet
  // alone.
  ModelledEntry ipoib = entry_of("ipoib", "one modelled UDP socket a rank over InfiniBand, without the library");
  ipoib.invented = nullptr;
  ipoib.datagrams = "modelled sockets and IP over InfiniBand";
  ipoib.known_as = "ibv";
  registry.add(std::move(ipoib));
}

}  // namespace gasmeter::networks

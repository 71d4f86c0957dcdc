// Modelled sockets, over Ethernet and over InfiniBand, to the rest of the library: what they offer, options,
// parameters, raw programs.
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/networks/ethernet/ethernet_datagrams.hpp"
#include "gasmeter/networks/ethernet/ethernet_network.hpp"
#include "gasmeter/networks/ethernet/invented_machine.hpp"
#include "gasmeter/networks/ethernet/raw/programs.hpp"
#include "gasmeter/networks/installation.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace ethernet {
namespace {

using conduit::MachineValues;

const std::vector<OptionInfo>& options() {
  static const std::vector<OptionInfo> all = {
      {"caches", "bool", "true", "", {}, "false: the processors' caches are switched off, as in an old experiment"},
      {"wait", "choice", "spin", "", {"spin", "sleep"}, "what a rank does that waits for a datagram"}};
  return all;
}

class Modelled final : public ModelledNetwork {
 public:
  Modelled(sim::Engine& engine, const sim::Topology& topology, const EthernetParameters& parameters,
           const Settings& settings)
      : engine_(engine),
        network_(engine, topology, parameters, settings.text("wait") == "sleep" ? Waiting::sleep : Waiting::spin),
        settings_(settings) {}

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
  sim::Fabric* fabric() override { return &network_.fabric(); }
  void name_steps(sim::Tracer& tracer) override { network_.name_steps(tracer); }

 private:
  sim::Engine& engine_;
  EthernetNetwork network_;
  const Settings& settings_;
  std::deque<RawSocket> raw_;
};

class Machine final : public ModelledMachine {
 public:
  Machine(const ModelledJob& job, MachineValues machine)
      : settings_(job.settings),
        installation_(machine, job),
        prices_(socket_host_prices(machine)),
        parameters_(ethernet_parameters(machine)) {
    const unsigned factor = machine.count("host.caches_off");
    if (!settings_.flag("caches")) switch_caches_off(factor, prices_, parameters_);
    machine.check_all_used();
  }

  sim::EngineOptions engine_options() const override { return installation_.engine_options(settings_, prices_); }
  std::unique_ptr<ModelledNetwork> make_network(sim::Engine& engine) const override {
    return std::make_unique<Modelled>(engine, installation_.topology(), parameters_, settings_);
  }

 private:
  const Settings& settings_;
  Installation installation_;
  conduit::HostPrices prices_;
  EthernetParameters parameters_;
};

const std::vector<ParameterInfo>& parameters() {
  static const std::vector<ParameterInfo> host = {
      {"topology", "topology", "how nodes are connected"},
      {"ranks_per_node", "count", "cores of a node, one rank each"},
      {"host.poll_miss", "time", "asking a socket that has nothing"},
      {"host.update", "time", "one read-modify-write of a kernel on a random word of a table in memory"},
      {"host.update_in_cache", "time", "likewise, of a table of at most host.cache"},
      {"host.cache", "size", "of the caches that one core has for itself"},
      {"host.copy_start", "time", "a copy from memory to memory, whatever its length"},
      {"host.copy_bandwidth", "bandwidth", "a copy from memory to memory by one core, between user and kernel too"},
      {"host.memory_bandwidth", "bandwidth", "memory of a whole node, shared by its cores"},
      {"host.line_store", "time", "storing a cache line that another rank reads"},
      {"host.line_transfer", "time", "loading a cache line that another rank wrote"},
      {"host.caches_off", "count", "so many times as long takes all software with option caches=false"},
  };
  static const std::vector<ParameterInfo> own = {
      {"link.bandwidth", "bandwidth", "one link, in one direction"},
      {"link.latency", "time", "one hop: half of a switch, and a cable"},
      {"link.buffer", "count", "packets held by one input of a switch"},
      {"link.frame", "size", "added to each packet on the wire"},
      {"link.least_frame", "size", "of a packet on the wire at least, that included"},
      {"link.mtu", "size", "largest packet, its IP header included"},
      {"nic.pipeline", "time", "of a packet in both cards together, besides its time on the wire"},
      {"nic.moderation", "time", "from a packet to the interrupt that tells of it"},
      {"nic.ring", "count", "packets that wait for the kernel; more are lost"},
      {"kernel.send", "time", "sendto of a datagram that is one packet, copy apart"},
      {"kernel.fragment", "time", "sendto, for each packet more"},
      {"kernel.interrupt", "time", "from the interrupt to the first look at a packet"},
      {"kernel.input", "time", "protocol input of one packet"},
      {"kernel.wake_up", "time", "waking a rank that sleeps in recvfrom, with option wait=sleep"},
      {"kernel.receive", "time", "recvfrom of a datagram that waits, copy apart"},
      {"kernel.send_buffer", "size", "of a socket: bytes that have not left"},
      {"kernel.receive_buffer", "size", "of a socket: datagrams that wait; more are lost"},
  };
  static const std::vector<ParameterInfo> all = joined({host, instruction_parameters(), piece_parameters(), own});
  return all;
}

ModelledEntry entry_of(const std::string& name, const std::string& summary) {
  ModelledEntry entry;
  entry.info = {
      .name = name, .summary = summary, .conduits = {}, .raw_options = options(), .raw = listed(raw::programs())};
  entry.parameters = parameters();
  entry.service_options = options();
  return entry;
}

template <const char* kNetwork>
std::unique_ptr<ModelledMachine> make_machine(const ModelledJob& job) {
  return std::make_unique<Machine>(job, MachineValues(kNetwork, job.machine));
}
constexpr char kEthernet[] = "ethernet";
constexpr char kIpoib[] = "ipoib";

}  // namespace
}  // namespace ethernet

void register_ethernet(Registry& registry) {
  using namespace ethernet;
  ModelledEntry ethernet = entry_of(kEthernet, "one modelled UDP socket a rank, without the library");
  ethernet.make = &make_machine<kEthernet>;
  ethernet.datagrams = "modelled sockets and Ethernet";
  ethernet.invented = &invented_machine;
  // Rings and buffers that hold next to nothing: one packet or two, or those of one datagram of the largest kind.
  ethernet.trial_machines = {
      {.name = "tight",
       .other = {{"nic.ring", 4.0}, {"kernel.send_buffer", 4000.0}, {"kernel.receive_buffer", 4000.0}}},
      {.name = "tight, large datagrams",
       .other = {{"nic.ring", 64.0}, {"kernel.send_buffer", 4000.0}, {"kernel.receive_buffer", 66500.0}}}};
  registry.add(std::move(ethernet));

  // The same code: it has no invented machine, and the conformance suite runs the conduit over Ethernet alone.
  ModelledEntry ipoib = entry_of(kIpoib, "one modelled UDP socket a rank over InfiniBand, without the library");
  ipoib.make = &make_machine<kIpoib>;
  ipoib.datagrams = "modelled sockets and IP over InfiniBand";
  ipoib.known_as = "ibv";
  registry.add(std::move(ipoib));
}

}  // namespace gasmeter::networks

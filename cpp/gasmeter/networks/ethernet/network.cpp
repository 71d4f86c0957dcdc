// Registration of modelled sockets over Ethernet and over InfiniBand: services, options, parameters, raw programs.
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/networks/ethernet/ethernet_datagrams.hpp"
#include "gasmeter/networks/ethernet/ethernet_network.hpp"
#include "gasmeter/networks/ethernet/invented_machine.hpp"
#include "gasmeter/networks/ethernet/raw/programs.hpp"
#include "gasmeter/networks/ethernet/uncached.hpp"
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
    const UncachedHost uncached = uncached_host(machine, kInstructions);
    if (!settings_.flag("caches")) switch_caches_off(uncached, prices_, parameters_);
    machine.check_all_used();
  }

  // Waits end in the middle of a poll. A look at a socket is a system call, so its phase would show in results. On a
  // real machine that phase is random.
  sim::EngineOptions engine_options() const override {
    sim::EngineOptions options = installation_.engine_options(settings_, prices_);
    options.waits = settings_.text("wait") == "sleep" ? sim::Waits::asleep : sim::Waits::mid_poll;
    return options;
  }
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
      software_time("host.poll_miss", "asking a socket that has nothing"),
      software_time("host.update", "one read-modify-write of a kernel on a random word of a table in memory"),
      software_time("host.update_in_cache", "likewise, of a table of at most host.cache"),
      {"host.cache", "size", "of the caches that one core has for itself"},
      software_time("host.copy_start", "a copy from memory to memory, whatever its length"),
      {"host.copy_bandwidth", "bandwidth", "a copy from memory to memory by one core, between user and kernel too"},
      {"host.memory_bandwidth", "bandwidth", "memory of a whole node, shared by its cores"},
      software_time("host.line_store", "storing a cache line that another rank reads"),
      software_time("host.line_transfer", "loading a cache line that another rank wrote"),
      software_time("host.clock_read", "asking for the time, as libraries do for their timers"),
      software_time("host.uncached_instruction", "one instruction and its fetch, with option caches=false"),
      software_time("host.uncached_access", "one load or store, beside that, with option caches=false"),
      {"host.uncached_accesses", "count", "loads and stores of 100 instructions"},
      {"host.uncached_copy", "size", "moved by each load and store of a copy, with option caches=false"},
      {"host.copy_start_instructions", "count", "instructions of host.copy_start"},
      {"host.update_instructions", "count", "instructions of host.update"},
      {"host.clock_read_instructions", "count", "instructions of host.clock_read"},
      {"host.poll_miss_instructions", "count", "instructions of host.poll_miss"},
  };
  static const std::vector<ParameterInfo> network_parameters = {
      {"link.bandwidth", "bandwidth", "one link, in one direction"},
      {"link.latency", "time", "one hop: half of a switch, and a cable"},
      {"link.buffer", "count", "packets held by one input of a switch"},
      {"link.frame", "size", "added to each packet on the wire"},
      {"link.least_frame", "size", "of a packet on the wire at least, that included"},
      {"link.mtu", "size", "largest packet, its IP header included"},
      {"nic.pipeline", "time", "of a packet in both cards together, besides its time on the wire"},
      {"nic.moderation", "time", "from a packet to the interrupt that tells of it"},
      {"nic.ring", "count", "packets that wait for the kernel; more are lost"},
      software_time("kernel.send", "sendto of a datagram that is one packet, copy apart"),
      software_time("kernel.fragment", "sendto, for each packet more"),
      software_time("kernel.interrupt", "from the interrupt to the first look at a packet"),
      software_time("kernel.input", "protocol input of one packet"),
      software_time("kernel.wake_up", "waking a rank that sleeps in recvfrom, with option wait=sleep"),
      software_time("kernel.receive", "recvfrom of a datagram that waits, copy apart"),
      software_time("kernel.ioctl", "FIONREAD: asking a socket how many bytes wait"),
      {"kernel.send_instructions", "count", "instructions of kernel.send"},
      {"kernel.fragment_instructions", "count", "instructions of kernel.fragment"},
      {"kernel.interrupt_instructions", "count", "instructions of kernel.interrupt"},
      {"kernel.input_instructions", "count", "instructions of kernel.input"},
      {"kernel.wake_up_instructions", "count", "instructions of kernel.wake_up"},
      {"kernel.receive_instructions", "count", "instructions of kernel.receive"},
      {"kernel.ioctl_instructions", "count", "instructions of kernel.ioctl"},
      {"kernel.send_buffer", "size", "of a socket: bytes that have not left"},
      {"kernel.receive_buffer", "size", "of a socket: datagrams that wait; more are lost"},
  };
  static const std::vector<ParameterInfo> all =
      joined({host, instruction_parameters(), optional_parameters(), network_parameters});
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
  // Trial machines whose rings and buffers hold one or two packets, or just the packets of one largest datagram.
  ethernet.trial_machines = {
      {.name = "tight",
       .other = {{"nic.ring", 4.0}, {"kernel.send_buffer", 4000.0}, {"kernel.receive_buffer", 4000.0}}},
      {.name = "tight, large datagrams",
       .other = {{"nic.ring", 64.0}, {"kernel.send_buffer", 4000.0}, {"kernel.receive_buffer", 66500.0}}}};
  registry.add(std::move(ethernet));

  // The same code as ethernet. It has no invented machine: the conformance suite runs the conduit over Ethernet
  // alone.
  ModelledEntry ipoib = entry_of(kIpoib, "one modelled UDP socket a rank over InfiniBand, without the library");
  ipoib.make = &make_machine<kIpoib>;
  ipoib.datagrams = "modelled sockets and IP over InfiniBand";
  ipoib.known_as = "ibv";
  registry.add(std::move(ipoib));
}

}  // namespace gasmeter::networks

// A toy network with the costs of the LogGP model. No machine: illustrative round numbers, see README.md.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/status.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/settings.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/networks/ideal/packet.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::ideal {

// Estimate: every number is a round one, chosen so that sums can be done by hand. LogGP's o is the host's: nic_post and
// nic_take.
struct IdealParameters {
  SimTime latency{1'000'000};                // L: from the last byte's leaving to its arrival, ps
  SimTime gap{300'000};                      // g: pause of a NIC between two packets, ps, sending and receiving
  std::int64_t gap_per_byte_fs = 1'000'000;  // G: 1 ns a byte
  unsigned send_slots = 16;                  // packets of a rank that are prepared or have not left
  unsigned reply_slots = 4;                  // of them, kept for replies by the conduit
  SimTime latency_back{};                    // L of what goes to a rank of a lower number, ps; 0: the same
  // Takes the keys nic.*.
  static IdealParameters from(conduit::MachineValues& machine);
};

// An option that is a time in ns. Throws UsageError for a negative one or more than ten to the `digits`.
[[nodiscard]] SimTime time_option(const bench::Settings& settings, const char* name, int digits = 9);

// What a network can take from the processors of its hosts; nothing, unless it is asked for.
struct IdealEffects {
  SimTime interrupt{};                 // an arrival interrupts a core for so long, and can be taken after that
  bool other_core = false;             // a core of the node that no rank runs on, instead of the target's own
  bool handlers_by_interrupt = false;  // what has come is handled at once
  SimTime poll{};                      // a poll that finds nothing costs so much more
  SimTime load{};                      // the core stalls for so long when it takes a packet from the NIC
  SimTime check{};                     // a sender asks whether the packet that it has posted has gone
  SimTime flag{};                      // ... and sets a flag behind it
  SimTime scan{};                      // a receiver looks through the flags before it takes a packet
  // Of the options interrupt, interrupts, handlers and those of the others' names. Throws UsageError.
  static IdealEffects from(const bench::Settings& settings);
};

// Estimate: prices of a toy host, likewise.
[[nodiscard]] conduit::HostPrices ideal_prices();
// Takes the keys host.*.
[[nodiscard]] conduit::HostPrices ideal_prices(conduit::MachineValues& machine);

// With the options piece_copy, loop_turn, loop_level and near_translation; 0 leaves what is there.
[[nodiscard]] conduit::HostPrices with_piece_prices(conduit::HostPrices prices, const bench::Settings& settings);

struct NicCounters {
  std::uint64_t sent = 0;
  std::uint64_t taken = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t refused = 0;        // no send slot
  std::uint64_t deepest_queue = 0;  // most packets that waited to be taken
};

class IdealNetwork;

// The NIC of one rank. Its calls are made on the rank's own fibre.
class IdealNic {
 public:
  IdealNic(IdealNetwork& network, sim::ModelHost host);

  // Copies the bytes (the post's price covers it) and sends them; no_resource: every slot is in use, nothing was
  // charged, and the rank is woken when the next slot falls free. Throws UsageError for more than kMaxPacketBytes.
  Status try_send(Rank to, std::span<const std::byte> bytes);

  // The same in two steps: a slot and a packet to write up to so many bytes into, or null where no more than
  // `keep_free` slots are free.
  [[nodiscard]] PacketHandle try_reserve(Bytes bytes, unsigned keep_free = 0);
  void send(PacketHandle packet, Rank to, Bytes size);
  void cancel(PacketHandle packet);
  // Another way to use what was reserved: the bytes are read when they have left, behind `head` bytes of header, and
  // written when they have arrived, which the target's software does not see.
  void put(PacketHandle packet, Rank to, Bytes head, const Put& put);
  // The next of its operations that this NIC has done: the source has been read, or the target has answered.
  [[nodiscard]] std::optional<conduit::OperationId> take_done();

  // The next packet in order of arrival, or null. Packets of one sender arrive in the order of sending.
  [[nodiscard]] PacketHandle take();

  [[nodiscard]] const NicCounters& counters() const { return counters_; }
  // Its slots, and packets that wait to be taken.
  [[nodiscard]] Bytes reserved_bytes() const { return (leaving_.size() + waiting_) * kMaxPacketBytes; }

 private:
  friend class IdealNetwork;

  [[nodiscard]] unsigned free_slots();
  // When the packet, of so many bytes, has left.
  [[nodiscard]] SimTime depart(Packet& packet, Rank to, Bytes size);
  void tell(conduit::OperationId operation, SimTime now);
  [[nodiscard]] SimTime receive(const Packet& packet, SimTime now);
  void deliver(Packet& packet, SimTime now);
  void interrupt(Packet& packet, SimTime now);
  static void loaded(sim::Action& load, SimTime now);

  IdealNetwork& network_;
  sim::ModelHost host_;
  // The sending side is the rank's own, in its own time.
  std::vector<SimTime> leaving_;  // ring: when each packet under way to the wire has left
  std::size_t first_leaving_ = 0;
  unsigned in_flight_ = 0;
  unsigned reserved_ = 0;
  SimTime send_free_;
  SimTime wake_asked_{-1};
  // The receiving side moves with the engine's events.
  SimTime receive_free_;
  PacketList arrived_;
  std::vector<conduit::OperationId> done_;  // from first_done_ on
  std::size_t first_done_ = 0;
  std::uint64_t waiting_ = 0;
  // A load of the core's from the NIC, on its way back.
  struct Load : sim::Action {
    explicit Load(IdealNic& nic) : Action(&IdealNic::loaded), of(nic) {}
    IdealNic& of;
  };
  Load load_{*this};
  NicCounters counters_;
};

// Wires between all ranks; made for one engine, which outlives it. Its end cancels the engine's bodies, whose stacks
// may hold packets.
class IdealNetwork {
 public:
  // Throws UsageError for negative costs, no send slot, or none left for requests.
  explicit IdealNetwork(sim::Engine& engine, const IdealParameters& parameters = {}, const IdealEffects& effects = {});
  IdealNetwork(const IdealNetwork&) = delete;
  IdealNetwork& operator=(const IdealNetwork&) = delete;
  ~IdealNetwork() { engine_.cancel(); }

  [[nodiscard]] IdealNic& nic(Rank rank);
  [[nodiscard]] const IdealParameters& parameters() const { return parameters_; }
  [[nodiscard]] const IdealEffects& effects() const { return effects_; }
  [[nodiscard]] sim::Engine& engine() const { return engine_; }
  [[nodiscard]] PacketPool& packets() { return packets_; }
  // Tells a tracer what the network's events are.
  void name_steps(sim::Tracer& tracer) const;

 private:
  friend class IdealNic;
  static void read(sim::Action& packet, SimTime now);
  static void arrive(sim::Action& packet, SimTime now);
  static void handled(sim::Action& packet, SimTime now);
  static void answer(sim::Action& packet, SimTime now);
  [[nodiscard]] SimTime latency(Rank from, Rank to) const {
    const bool is_other = index(to) < index(from) && parameters_.latency_back.ps != 0;
    return is_other ? parameters_.latency_back : parameters_.latency;
  }
  [[nodiscard]] SimTime on_wire(Bytes bytes) const { return SimTime::of_bytes(parameters_.gap_per_byte_fs, bytes); }

  sim::Engine& engine_;
  IdealParameters parameters_;
  IdealEffects effects_;
  std::vector<SimTime> other_core_busy_until_;  // of each node
  PacketPool packets_;
  std::deque<IdealNic> nics_;
};

}  // namespace gasmeter::networks::ideal

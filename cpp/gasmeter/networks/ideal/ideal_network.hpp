// Toy network with the costs of the LogGP model. It describes no machine; its numbers are round (README.md).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/status.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/networks/ideal/packet.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::ideal {

// Parameters, all estimates: round numbers, so that sums can be done by hand. LogGP's o is the host's: nic_post and
// nic_take.
struct IdealParameters {
  SimTime latency{1'000'000};                // L: time in ps from the last byte's leaving to its arrival
  SimTime gap{300'000};                      // g: pause of a NIC between two packets, ps, sending and receiving
  std::int64_t gap_per_byte_fs = 1'000'000;  // G: 1 ns a byte
  unsigned send_slots = 16;                  // packets of a rank that are prepared or have not left
  unsigned reply_slots = 4;                  // slots of these that the conduit keeps for replies
  SimTime latency_back{};                    // L of packets to a rank of a lower number, ps; 0: the same
};

// Times that a network takes from its hosts' processors. All are off by default.
struct IdealEffects {
  SimTime interrupt{};                 // an arrival interrupts a core for so long, and can be taken after that
  bool other_core = false;             // interrupts a core of the node without a rank, instead of the target's
  bool handlers_by_interrupt = false;  // an interrupt hands over arrivals at once
  SimTime poll{};                      // added to a poll that finds nothing
  SimTime load{};                      // stall of the core that takes a packet from the NIC
  SimTime check{};                     // time of a sender's check whether its posted packet has left
  SimTime flag{};                      // time to set a flag behind a packet
  SimTime scan{};                      // time of a receiver's scan of the flags before it takes a packet
};

// Return the prices of a toy host, all estimates.
[[nodiscard]] conduit::HostPrices ideal_prices();
struct NicCounters {
  std::uint64_t sent = 0;
  std::uint64_t taken = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t refused = 0;        // sends without a free slot
  std::uint64_t deepest_queue = 0;  // most packets that waited to be taken
};

class IdealNetwork;

// NIC of one rank. Only the rank's own fibre calls it.
class IdealNic {
 public:
  IdealNic(IdealNetwork& network, sim::ModelHost host);

  // Copy the bytes, which the post's price includes, and send them. Returns no_resource if every slot is in use:
  // nothing was charged, and the rank is woken when the next slot is free. Throws UsageError for more than
  // kMaxPacketBytes.
  Status try_send(Rank to, std::span<const std::byte> bytes);

  // Send in two steps. try_reserve() returns a slot and a packet of at least `bytes` bytes, or null if at most
  // `keep_free` slots are free.
  [[nodiscard]] PacketHandle try_reserve(Bytes bytes, unsigned keep_free = 0);
  void send(PacketHandle packet, Rank to, Bytes size);
  void cancel(PacketHandle packet);
  // Use a reserved packet for a put instead. The bytes are read when they have left, behind `head` bytes of header.
  // They are written when they have arrived, unnoticed by the target's software.
  void put(PacketHandle packet, Rank to, Bytes head, const Put& put);
  // Return the next operation that this NIC has done: it has read the source, or the target has answered.
  [[nodiscard]] std::optional<conduit::OperationId> take_done();

  // Return the next packet in order of arrival, or null. Packets of one sender arrive in the order of sending.
  [[nodiscard]] PacketHandle take();

  [[nodiscard]] const NicCounters& counters() const { return counters_; }
  // Bytes of the slots, and of packets that wait to be taken.
  [[nodiscard]] Bytes reserved_bytes() const { return (leaving_.size() + waiting_) * kMaxPacketBytes; }

 private:
  friend class IdealNetwork;

  [[nodiscard]] unsigned free_slots();
  // Return the time at which a packet of so many bytes has left.
  [[nodiscard]] SimTime depart(Packet& packet, Rank to, Bytes size);
  void tell(conduit::OperationId operation, SimTime now);
  [[nodiscard]] SimTime receive(const Packet& packet, SimTime now);
  void deliver(Packet& packet, SimTime now);
  void interrupt(Packet& packet, SimTime now);
  static void loaded(sim::Action& load, SimTime now);

  IdealNetwork& network_;
  sim::ModelHost host_;
  // State of the sending side, which moves in the rank's own time.
  std::vector<SimTime> leaving_;  // ring: times at which packets under way have left
  std::size_t first_leaving_ = 0;
  unsigned in_flight_ = 0;
  unsigned reserved_ = 0;
  SimTime send_free_;
  SimTime wake_asked_{-1};
  // State of the receiving side, which moves with the engine's events.
  SimTime receive_free_;
  PacketList arrived_;
  std::vector<conduit::OperationId> done_;  // from first_done_ on
  std::size_t first_done_ = 0;
  std::uint64_t waiting_ = 0;
  // Load of the core from the NIC, on its way back.
  struct Load : sim::Action {
    explicit Load(IdealNic& nic) : Action(&IdealNic::loaded), of(nic) {}
    IdealNic& of;
  };
  Load load_{*this};
  NicCounters counters_;
};

// Wires between all ranks, made for one engine, which outlives it. The destructor cancels the engine's bodies, because
// their stacks may hold packets.
class IdealNetwork {
 public:
  // Throws UsageError for negative costs, for no send slot, or if no slot is left for requests.
  explicit IdealNetwork(sim::Engine& engine, const IdealParameters& parameters = {}, const IdealEffects& effects = {});
  IdealNetwork(const IdealNetwork&) = delete;
  IdealNetwork& operator=(const IdealNetwork&) = delete;
  ~IdealNetwork() { engine_.cancel(); }

  [[nodiscard]] IdealNic& nic(Rank rank);
  [[nodiscard]] const IdealParameters& parameters() const { return parameters_; }
  [[nodiscard]] const IdealEffects& effects() const { return effects_; }
  [[nodiscard]] sim::Engine& engine() const { return engine_; }
  [[nodiscard]] PacketPool& packets() { return packets_; }
  // Name the network's events for a tracer.
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
  std::vector<SimTime> other_core_busy_until_;  // by node
  PacketPool packets_;
  std::deque<IdealNic> nics_;
};

}  // namespace gasmeter::networks::ideal

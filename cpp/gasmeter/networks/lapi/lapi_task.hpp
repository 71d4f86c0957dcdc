// LAPI as one rank's software uses it: a task with its FIFOs, its windows to peers, and its registered memory.
//
// Calls try, and never wait. The rank's own body makes them, or the main stack before the rank runs. Only probe(),
// LAPI's dispatcher, handles arrivals. A waiting task calls it, or a task that an arrival has interrupted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/sparse_table.hpp"
#include "gasmeter/base/status.hpp"
#include "gasmeter/networks/lapi/event.hpp"
#include "gasmeter/networks/lapi/packet.hpp"
#include "gasmeter/networks/lapi/parameters.hpp"
#include "gasmeter/services/event_queue.hpp"
#include "gasmeter/services/registered_memory.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::lapi {

class Adapter;
class LapiNetwork;

struct TaskCounters {
  std::uint64_t calls = 0;    // calls that were carried out
  std::uint64_t refused = 0;  // calls without room
  std::uint64_t acknowledgements = 0;
  std::uint64_t interrupts = 0;
};

class LapiTask {
 public:
  LapiTask(LapiNetwork& network, sim::ModelHost host);
  LapiTask(const LapiTask&) = delete;
  LapiTask& operator=(const LapiTask&) = delete;

  [[nodiscard]] Rank rank() const { return host_.rank(); }
  [[nodiscard]] const LapiParameters& parameters() const;
  [[nodiscard]] TaskCounters& counters() { return counters_; }
  // Bytes of its FIFOs. The receive FIFO counts as far as windows can fill it.
  [[nodiscard]] Bytes reserved_bytes() const;

  // ---- registered memory, which adapters reach. Packet mode may name all memory of a task.
  // Register memory, for the price of each handle that it takes.
  void register_memory(std::span<std::byte> memory);
  // Do the same for memory whose registration the caller has already paid for.
  void admit(std::span<std::byte> memory) { registered_.admit(memory); }
  // Undo one registration, whose price the caller has paid. No transfer that names the memory may be in flight.
  void dismiss(std::span<std::byte> memory) { registered_.dismiss(memory); }
  [[nodiscard]] bool is_registered(const void* memory, Bytes bytes) const { return registered_.holds(memory, bytes); }

  // ---- room, in the send FIFO and in the window of a pair
  [[nodiscard]] unsigned packets_of(Bytes user_header, Bytes bytes) const;
  // The most packets that a rank is sure to get at a time, whatever it has sent before and is not acknowledged yet.
  [[nodiscard]] unsigned most_packets() const;
  // Reserve packets. `kept`: further packets that must stay free.
  [[nodiscard]] bool reserve(Rank peer, unsigned packets, unsigned kept = 0);
  void give_back(Rank peer, unsigned packets);
  // Tell whether a transfer in RDMA mode may begin. A transfer that has ended counts until probe() has seen its end.
  [[nodiscard]] bool may_transfer() const { return rdma_ < parameters().rdma; }

  // ---- calls. no_resource: there is no room, and nothing was charged. A rank that does not exist is a UsageError.
  // Send a message whose packets have been reserved. Header and data may change at return.
  void amsend(Rank to, std::span<const std::byte> user_header, std::span<const std::byte> data);
  // Put in packet mode. The source may change at return. `completion`: a counter of the origin. `target`: a counter of
  // the target.
  Status put(Rank to, void* remote, const void* local, Bytes bytes, std::uint64_t completion,
             std::uint64_t target = kNoCounter);
  Status get(Rank from, void* local, const void* remote, Bytes bytes, std::uint64_t completion);
  // Transfers by the adapters alone, between registered memory. The calls throw UsageError for other memory and for
  // more bytes than a handle covers. The source may change with the completion.
  Status rdma_put(Rank to, void* remote, const void* local, Bytes bytes, std::uint64_t completion);
  Status rdma_get(Rank from, void* local, const void* remote, Bytes bytes, std::uint64_t completion);

  void on_header(HeaderHandler& handler) { handler_ = &handler; }
  // Handle one packet, if there is one. If there is none, the calling wait charges the miss.
  std::optional<Event> probe();

  // ---- the adapter's side
  void deliver(LapiPacket& packet, SimTime now);
  void slot_is_free(SimTime now);
  void memory_changed(SimTime now);
  void require_registered(const void* memory, Bytes bytes, const char* operation, Rank by) const {
    if (bytes != 0) registered_.require(memory, bytes, operation, by);
  }

 private:
  struct Peer {
    unsigned on_the_way = 0;   // packets to the peer that it has not acknowledged, and reserved ones
    unsigned taken = 0;        // packets of the peer that are not acknowledged
    Landing landing;           // of the message that is arriving
    bool has_written = false;  // its packets need room in the FIFO
  };
  // Data that a peer has asked for.
  struct Owed {
    Rank to{};
    const std::byte* from = nullptr;
    std::byte* remote = nullptr;
    Bytes bytes = 0;
    Bytes sent = 0;
    std::uint64_t counter = 0;
    bool is_done = false;
  };

  void check_peer(Rank peer) const;
  [[nodiscard]] Adapter& adapter() const;
  [[nodiscard]] bool has_room(Rank peer, unsigned packets);
  [[nodiscard]] unsigned acknowledged_at() const;
  void hand_over(LapiPacket& packet);
  void load(LapiPacket& packet, const std::byte* from, Bytes bytes, Bytes at = 0);
  Status rdma(bool is_get, Rank peer, void* remote, void* local, Bytes bytes, std::uint64_t completion);

  // ---- the dispatcher
  [[nodiscard]] Event handle(LapiPacket& packet);
  [[nodiscard]] Event take_amsend(const LapiPacket& packet);
  [[nodiscard]] Event take_put(const LapiPacket& packet);
  void land(std::byte* to, const LapiPacket& packet);
  void taken(Rank from);
  void answer_gets();

  LapiNetwork& network_;
  sim::ModelHost host_;
  services::EventQueue<LapiPacket*> fifo_;
  services::RegisteredMemory registered_;
  HeaderHandler* handler_ = nullptr;
  SparseTable<Peer> peers_;
  std::vector<Owed> owed_;
  unsigned slots_ = 0;       // of the send FIFO, in use or reserved
  unsigned rdma_ = 0;        // transfers in RDMA mode in flight
  bool wants_slot_ = false;  // a call was refused a slot, so that the next free slot wakes the rank
  bool is_interrupted_ = false;
  TaskCounters counters_;
};

}  // namespace gasmeter::networks::lapi

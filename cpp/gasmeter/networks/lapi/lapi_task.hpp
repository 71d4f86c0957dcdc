// LAPI as one rank's software has it: a task, its FIFOs, what it may have on its way to others, and its registered
// memory.
//
// Calls try and never wait. Called by the rank's own body, or on the main stack before it runs. What has come is seen
// to in probe() alone, LAPI's dispatcher, whoever's call that is: a waiting task's, or one that an arrival interrupts.
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
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::lapi {

class Adapter;
class LapiNetwork;

struct TaskCounters {
  std::uint64_t calls = 0;    // that were carried out
  std::uint64_t refused = 0;  // for which there was no room
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
  // Its FIFOs; of the one for what comes, what its windows can fill of it.
  [[nodiscard]] Bytes reserved_bytes() const;

  // ---- registered memory: what adapters reach. In packet mode all memory of a task may be named.
  // Costs registration for each handle that it takes.
  void register_memory(std::span<std::byte> memory);
  // The same, registered already: whoever says so has paid for it.
  void admit(std::span<std::byte> memory) { registered_.admit(memory); }
  // Takes that back, once; whoever does so has paid for it. No transfer that names the memory may be under way.
  void dismiss(std::span<std::byte> memory) { registered_.dismiss(memory); }
  [[nodiscard]] bool is_registered(const void* memory, Bytes bytes) const { return registered_.holds(memory, bytes); }

  // ---- room, in the send FIFO and in the window of a pair
  [[nodiscard]] unsigned packets_of(Bytes user_header, Bytes bytes) const;
  // The most that can be had at a time, whatever has been sent before and is not acknowledged yet.
  [[nodiscard]] unsigned most_packets() const;
  // `kept`: as many more have to be left for others.
  [[nodiscard]] bool reserve(Rank peer, unsigned packets, unsigned kept = 0);
  void give_back(Rank peer, unsigned packets);
  // In RDMA mode; what has ended counts until probe() has seen that.
  [[nodiscard]] bool may_transfer() const { return rdma_ < parameters().rdma; }

  // ---- calls. no_resource: there is no room; nothing was charged. Throw UsageError for a rank that does not exist
  // All of its packets have been reserved. Header and data may change at return.
  void amsend(Rank to, std::span<const std::byte> user_header, std::span<const std::byte> data);
  // The source may change at return. `completion`: of the origin's counters, `target`: of the target's.
  Status put(Rank to, void* remote, const void* local, Bytes bytes, std::uint64_t completion,
             std::uint64_t target = kNoCounter);
  Status get(Rank from, void* local, const void* remote, Bytes bytes, std::uint64_t completion);
  // By the adapters alone, between registered memory; throw UsageError for other memory and more than a handle has.
  // The source may change with the completion.
  Status rdma_put(Rank to, void* remote, const void* local, Bytes bytes, std::uint64_t completion);
  Status rdma_get(Rank from, void* local, const void* remote, Bytes bytes, std::uint64_t completion);

  void on_header(HeaderHandler& handler) { handler_ = &handler; }
  // Sees to one packet, if there is one. None: a miss, which costs what the caller's wait charges for it.
  std::optional<Event> probe();

  // ---- the adapter's side
  void deliver(LapiPacket& packet, SimTime now);
  void slot_is_free(SimTime now);
  void memory_changed(SimTime now);
  void require_registered(const void* memory, Bytes bytes, const char* what, Rank by) const {
    if (bytes != 0) registered_.require(memory, bytes, what, by);
  }

 private:
  struct Peer {
    unsigned on_the_way = 0;   // packets that it has not acknowledged, and reserved ones
    unsigned taken = 0;        // of its own, not acknowledged
    Landing landing;           // of the message that comes
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
  unsigned rdma_ = 0;        // transfers under way
  bool wants_slot_ = false;  // whoever was refused one wakes when there is one
  bool is_interrupted_ = false;
  TaskCounters counters_;
};

}  // namespace gasmeter::networks::lapi

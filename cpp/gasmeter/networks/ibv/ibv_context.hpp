// Verbs: the calls of one rank's software to its node's adapter.
//
// Calls try, and never wait. The rank's own body makes them, or the main stack before the rank runs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/sparse_table.hpp"
#include "gasmeter/base/status.hpp"
#include "gasmeter/networks/ibv/completion_queue.hpp"
#include "gasmeter/networks/ibv/parameters.hpp"
#include "gasmeter/networks/ibv/queue_pair.hpp"
#include "gasmeter/networks/ibv/work.hpp"
#include "gasmeter/services/registered_memory.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::ibv {

class IbvNetwork;

// Sizes of the queues that software asks for.
struct QueueSizes {
  unsigned send = 24;                         // work requests of a queue pair
  std::array<unsigned, 2> receive{512, 512};  // receives of each receive queue
  unsigned sent = 1024;                       // completions of send queues
  unsigned received = 1024;                   // completions of receives
};

struct ContextCounters {
  std::uint64_t posted = 0;        // work requests
  std::uint64_t refused = 0;       // posts without a place in the send queue
  std::uint64_t not_ready = 0;     // sends that found no receive at this rank
  std::uint64_t sent_again = 0;    // how often sends of this rank were refused and sent again
  std::uint64_t atomics = 0;       // atomics on this rank's memory
  std::uint64_t out_of_order = 0;  // packets that followed a refused one
  std::uint64_t ringed = 0;        // messages that the conduit has written into rings
};

class IbvContext {
 public:
  // Two queue pairs to every rank. All queue pairs of a number share one receive queue.
  static constexpr unsigned kPairs = 2;

  IbvContext(IbvNetwork& network, sim::ModelHost host);
  IbvContext(const IbvContext&) = delete;
  IbvContext& operator=(const IbvContext&) = delete;

  [[nodiscard]] Rank rank() const { return host_.rank(); }
  [[nodiscard]] const IbvParameters& parameters() const;
  [[nodiscard]] ContextCounters& counters() { return counters_; }
  // Bytes of its queues, including those of connected queue pairs.
  [[nodiscard]] Bytes reserved_bytes() const;

  // Make the queues. Call this first. Throws UsageError for queues without places.
  void open(const QueueSizes& sizes);

  // Register memory for work requests, and for writes and reads of peers. The rank pays.
  void register_memory(std::span<std::byte> memory);
  // Do the same for memory whose registration the caller has already paid for.
  void admit(std::span<std::byte> memory) { registered_.admit(memory); }
  // Undo one registration, whose price the caller has paid. No work request that names the memory may be in flight.
  // Throws UsageError for memory that was not registered as one piece.
  void dismiss(std::span<std::byte> memory) { registered_.dismiss(memory); }
  [[nodiscard]] bool is_registered(const void* memory, Bytes bytes) const { return registered_.holds(memory, bytes); }

  // Places in the send queue to `peer`.
  [[nodiscard]] unsigned room(Rank peer, unsigned number = 0);
  // Post a work request. no_resource: the send queue is full, and nothing was charged. A place becomes free when
  // software polls a completion. Throws UsageError for a rank or queue pair that does not exist, and for too many
  // inlined bytes. The same holds for local memory that is not registered, and for atomics on anything but a word.
  Status post(Rank peer, const WorkRequest& request, unsigned number = 0);
  // Post a receive. no_resource: the receive queue is full. Throws UsageError for memory that is not registered.
  Status post_receive(const Receive& receive, unsigned number = 0);
  [[nodiscard]] std::size_t receives(unsigned number = 0);

  // Poll a completion queue. If it is empty, the calling wait charges the miss.
  std::optional<WorkCompletion> poll_sent();
  std::optional<WorkCompletion> poll_received();

  // ---- the adapter's side
  // Return a queue pair. The first call connects it, at no price: a job connects its queue pairs before it is measured.
  [[nodiscard]] QueuePair& queue_pair(Rank peer, unsigned number);
  [[nodiscard]] CompletionQueue& sent() { return sent_; }
  [[nodiscard]] CompletionQueue& received() { return received_; }
  [[nodiscard]] bool take_receive(unsigned number, Receive& receive);
  void require_room(const Receive& receive, const IbPacket& packet) const;
  void require_registered(const void* memory, Bytes bytes, const char* operation, Rank by) const {
    if (bytes != 0) registered_.require(memory, bytes, operation, by);
  }
  void write_memory(std::byte* at, std::span<const std::byte> bytes, Rank by, SimTime now);

 private:
  // Receives in the order of posting. The last one is taken first: a rank with few messages then touches few buffers.
  // Taking turns would make all buffers resident.
  using ReceiveQueue = std::vector<Receive>;

  void check(Rank peer, unsigned number) const;
  std::optional<WorkCompletion> poll(CompletionQueue& queue);

  IbvNetwork& network_;
  sim::ModelHost host_;
  QueueSizes sizes_;
  CompletionQueue sent_;
  CompletionQueue received_;
  std::array<ReceiveQueue, kPairs> receive_queues_;
  services::RegisteredMemory registered_;
  SparseTable<std::unique_ptr<QueuePair>> pairs_;  // by peer and number
  ContextCounters counters_;
};

}  // namespace gasmeter::networks::ibv

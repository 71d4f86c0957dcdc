// A communication domain: uGNI as one rank's software uses it.
//
// The rank's own body calls it, or the main stack before the rank runs. Posts never wait and are never refused.
// Software has to limit the posts in flight: its completion queues need a place for the events of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/aries/completion_queue.hpp"
#include "gasmeter/networks/aries/event.hpp"
#include "gasmeter/networks/aries/fma_window.hpp"
#include "gasmeter/networks/aries/parameters.hpp"
#include "gasmeter/networks/aries/post_descriptor.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::aries {

class AriesNetwork;

struct NicCounters {
  std::uint64_t fma = 0;       // posts of this rank: puts and gets by a window
  std::uint64_t rdma = 0;      // posts of this rank: puts and gets by an engine
  std::uint64_t amos = 0;      // posts of this rank: atomics
  std::uint64_t controls = 0;  // CQ writes
  std::uint64_t atomics = 0;   // atomics on this rank's memory
};

class Domain {
 public:
  Domain(AriesNetwork& network, sim::ModelHost host);
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  [[nodiscard]] Rank rank() const { return host_.rank(); }
  [[nodiscard]] const AriesParameters& parameters() const;
  [[nodiscard]] NicCounters& counters() { return counters_; }
  // Bytes of its completion queues.
  [[nodiscard]] Bytes reserved_bytes() const;

  // ---- completion queues
  // Make a queue of `entries` entries. One more unread event ends the run with a BrokenJob.
  CqHandle cq_create(std::uint32_t entries);
  // Take the oldest event, for host.cq_event. If there is none, nothing is charged, and the caller's poll pays
  // host.cq_empty (ModelHost::price_misses).
  std::optional<CqEvent> cq_get_event(CqHandle queue);
  // Tell whether a queue is empty, as of the rank's clock if the rank is synchronised. Free of charge.
  [[nodiscard]] bool is_empty(CqHandle queue) const;

  // ---- memory
  // Register memory, so that posts may name it by the handle. Remote events and CQ writes to the memory go to `events`.
  // The calls cost a registration and a deregistration.
  MemoryHandle mem_register(std::span<std::byte> memory, CqHandle events = {});
  void mem_deregister(MemoryHandle memory);
  // Do the same for memory whose price the caller has paid. No post that names the memory may be in flight at
  // dismiss().
  MemoryHandle admit(std::span<std::byte> memory, CqHandle events = {});
  void dismiss(MemoryHandle memory);

  // ---- posts: they return when the card has the descriptor, and the bytes of FMA puts.
  // The calls throw UsageError for a rank or queue that does not exist and for local memory that lacks a needed
  // registration. Gets need a remote address and length that are multiples of 4 B. Atomics need an operation that Aries
  // does, and an aligned word. The type has to belong to the call. Remote memory that is not registered ends the run,
  // by name.
  void post_fma(const Endpoint& to, const PostDescriptor& post);
  void post_rdma(const Endpoint& to, const PostDescriptor& post);
  void post_cq_write(const Endpoint& to, const PostDescriptor& post);

  // ---- the card's side
  [[nodiscard]] CompletionQueue& queue(CqHandle queue) { return queues_[queue.number]; }
  [[nodiscard]] FmaWindow& window() { return window_; }
  [[nodiscard]] CqHandle events_of(MemoryHandle memory) const { return regions_[memory.place].events; }
  // `by`: the rank whose `operation` reaches the memory.
  void require_registered(MemoryHandle handle, const void* memory, Bytes bytes, const char* operation, Rank by) const;
  // Require memory that has a queue for events.
  void require_events(MemoryHandle handle, const char* operation, Rank by) const;

 private:
  struct Region {
    std::byte* start = nullptr;
    Bytes length = 0;
    CqHandle events;
    std::uint32_t generation = 0;
    bool exists = false;
  };

  [[nodiscard]] const Region* find(MemoryHandle memory) const;
  [[nodiscard]] CompletionQueue& own_queue(CqHandle queue);
  void check(const Endpoint& to, const PostDescriptor& post);
  [[nodiscard]] RequestPacket& make(const Endpoint& to, const PostDescriptor& post);
  void store(RequestPacket& request);
  static void on_stored(sim::Action& self, SimTime now);
  static void on_queued(sim::Action& self, SimTime now);

  AriesNetwork& network_;
  sim::ModelHost host_;
  FmaWindow window_;
  std::deque<CompletionQueue> queues_;
  std::vector<Region> regions_;
  std::vector<std::uint32_t> free_;  // places of regions that are gone
  NicCounters counters_;
};

}  // namespace gasmeter::networks::aries

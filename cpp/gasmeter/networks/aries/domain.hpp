// A communication domain: uGNI as one rank's software has it.
//
// Called by the rank's own body, or on the main stack before it runs. Posts never wait and are never refused; how many
// may be under way is for software to know, which has a place in its completion queues for the events of each.
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
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::aries {

class AriesNetwork;

struct NicCounters {
  std::uint64_t fma = 0;       // posts of this rank: puts and gets
  std::uint64_t rdma = 0;      // likewise
  std::uint64_t amos = 0;      // likewise
  std::uint64_t controls = 0;  // CQ writes
  std::uint64_t atomics = 0;   // done on this rank's memory
};

class Domain {
 public:
  Domain(AriesNetwork& network, sim::ModelHost host);
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  [[nodiscard]] Rank rank() const { return host_.rank(); }
  [[nodiscard]] const AriesParameters& parameters() const;
  [[nodiscard]] NicCounters& counters() { return counters_; }
  // Of its completion queues.
  [[nodiscard]] Bytes reserved_bytes() const;

  // ---- completion queues
  // Of so many entries: one event more than software has taken out ends the run with a BrokenJob.
  CqHandle cq_create(std::uint32_t entries);
  // The oldest one, at host.cq_event. None: nothing was charged; whoever polls pays host.cq_empty for the look
  // (ModelHost::price_misses).
  std::optional<CqEvent> cq_get_event(CqHandle queue);
  [[nodiscard]] bool is_empty(CqHandle queue) const;  // at the rank's clock, if it is synchronised; costs nothing

  // ---- memory
  // All of it may be named in posts from now on, by the handle. Remote events and CQ writes to it go to `events`. At
  // registration; to end it is deregistration.
  MemoryHandle mem_register(std::span<std::byte> memory, CqHandle events = {});
  void mem_deregister(MemoryHandle memory);
  // The same, paid for by whoever says so. No post that names the memory may be under way at its end.
  MemoryHandle admit(std::span<std::byte> memory, CqHandle events = {});
  void dismiss(MemoryHandle memory);

  // ---- posts: they return when the card has the descriptor, and of FMA puts the bytes
  // Throw UsageError for a rank or queue that does not exist, for local memory that is not registered as it has to be,
  // for a get whose remote address or length is no multiple of 4 B, for an atomic that Aries does not do or whose word
  // is not aligned, and for a type of another call. Remote memory that is not registered ends the run, by name.
  void post_fma(const Endpoint& to, const PostDescriptor& post);
  void post_rdma(const Endpoint& to, const PostDescriptor& post);
  void post_cq_write(const Endpoint& to, const PostDescriptor& post);

  // ---- the card's side
  [[nodiscard]] CompletionQueue& queue(CqHandle queue) { return queues_[queue.number]; }
  [[nodiscard]] FmaWindow& window() { return window_; }
  [[nodiscard]] CqHandle events_of(MemoryHandle memory) const { return regions_[memory.place].events; }
  // `by`: whose `what` reaches it.
  void require_registered(MemoryHandle handle, const void* memory, Bytes bytes, const char* what, Rank by) const;
  // Likewise, memory whose queue it wants.
  void require_events(MemoryHandle handle, const char* what, Rank by) const;

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

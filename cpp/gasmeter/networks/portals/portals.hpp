// Portals 3.3 as one rank's software uses it: a network interface with its table, descriptors and event queues.
//
// The rank's own body calls it, or the main stack before the rank runs. The card or the interrupted core walks the
// lists. Changes to these lists happen at the rank's clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/holdings.hpp"
#include "gasmeter/networks/portals/event.hpp"
#include "gasmeter/networks/portals/match_table.hpp"
#include "gasmeter/networks/portals/memory_descriptor.hpp"
#include "gasmeter/networks/portals/packet.hpp"
#include "gasmeter/networks/portals/parameters.hpp"
#include "gasmeter/services/event_queue.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::portals {

class PortalsNetwork;

struct NiCounters {
  std::uint64_t puts = 0;  // begun by this rank
  std::uint64_t gets = 0;
  std::uint64_t arrived = 0;     // messages of all kinds
  std::uint64_t interrupts = 0;  // of a core, by those messages
  std::uint64_t drops = 0;       // puts and gets that no entry took, and answers whose descriptor is gone
  std::uint64_t steps = 0;       // entries that were looked at
  std::uint64_t waited = 0;      // messages that found no DMA slot
};

// Destination of an operation.
struct Target {
  Rank rank{};
  std::uint32_t portal = 0;
  std::uint64_t match_bits = 0;
  Bytes offset = 0;  // in the target's descriptor, if the initiator gives the offset
};

enum class Ack : std::uint8_t { none, wanted };

class Portals {
 public:
  Portals(PortalsNetwork& network, sim::ModelHost host);
  Portals(const Portals&) = delete;
  Portals& operator=(const Portals&) = delete;

  [[nodiscard]] Rank rank() const { return host_.rank(); }
  [[nodiscard]] const PortalsParameters& parameters() const;
  [[nodiscard]] NiCounters& counters() { return counters_; }
  // Bytes of its event queues.
  [[nodiscard]] Bytes reserved_bytes() const { return entries_ * kEventEntry; }
  // List its memory descriptors and event queues (holdings.cpp).
  [[nodiscard]] std::vector<conduit::Holding> holdings() const;

  // ---- event queues
  // Make a queue of `events` events. Software has to take them in time: one event too many ends the run with a
  // BrokenJob. `name`: software's name for the queue, a literal.
  EqHandle eq_alloc(std::uint32_t events, const char* name = "");
  // Delete a queue that no descriptor uses any more.
  void eq_free(EqHandle queue);
  // Take the oldest event, for host.eq_event. If there is none, nothing is charged, and the caller's poll pays
  // host.eq_empty.
  std::optional<Event> eq_get(EqHandle queue);
  // Tell whether a queue is empty, as of the rank's clock if the rank is synchronised. Free of charge.
  [[nodiscard]] bool is_empty(EqHandle queue) const;

  // ---- match entries: each call is a system call
  MeHandle me_attach(std::uint32_t portal, const MatchEntry& entry, Position position = Position::after);
  MeHandle me_insert(MeHandle beside, const MatchEntry& entry, Position position);
  // Unlink an entry with its descriptor. Return false if operations of the descriptor are in progress.
  [[nodiscard]] bool me_unlink(MeHandle entry);

  // ---- memory descriptors: making one is a registration, ending one a deregistration. A descriptor that unlinks
  // itself (Unlink::unlink) pays for both at once.
  MdHandle md_attach(MeHandle entry, const MemoryDescriptor& descriptor, Unlink unlink = Unlink::retain);
  MdHandle md_bind(const MemoryDescriptor& descriptor, Unlink unlink = Unlink::retain);
  // Return false if operations are in progress (PTL_MD_IN_USE).
  [[nodiscard]] bool md_unlink(MdHandle md);
  // Replace a descriptor, but only while `queue` (if given) is empty and no message has matched that the queue will
  // tell of next. Otherwise, and if operations are in progress, return false (PTL_MD_NO_UPDATE).
  [[nodiscard]] bool md_update(MdHandle md, const MemoryDescriptor& descriptor, EqHandle queue);
  [[nodiscard]] bool exists(MdHandle md) const { return table_.exists(md); }

  // ---- operations on bytes [offset, offset + bytes) of the local descriptor. The calls return when the card has the
  // command. The calls throw UsageError for a rank, portal or descriptor that does not exist, and for bytes outside of
  // the descriptor. The same holds for a descriptor that takes no more operations.
  void put(MdHandle md, Bytes offset, Bytes bytes, Ack ack, const Target& target, std::uint64_t header_data = 0);
  void get(MdHandle md, Bytes offset, Bytes bytes, const Target& target);

  // ---- for cards
  [[nodiscard]] MatchTable& table() { return table_; }
  [[nodiscard]] sim::ModelHost host() const { return host_; }
  // The descriptor takes an operation: PUT_START or GET_START follows.
  void matched(MdHandle md);
  // Write an event, unless its descriptor has no queue or excludes this kind of event.
  void tell(MdHandle md, Event event, SimTime now);
  // An operation has ended.
  void end(MdHandle md, SimTime now);
  // Unlink a descriptor that goes by itself, if this was its last operation.
  void settle(MdHandle md, SimTime now);

 private:
  struct Queue {
    Queue(sim::Engine& engine, NodeId node, Rank owner) : events(engine, node, owner) {}
    services::EventQueue<Event> events;
    std::uint32_t most = 0;
    std::uint32_t coming = 0;  // PUT_START and GET_START events that follow a match
    std::uint32_t generation = 0;
    bool exists = false;
    const char* name = "";
  };

  [[nodiscard]] const Queue& queue(EqHandle queue) const;
  [[nodiscard]] Queue& queue(EqHandle handle) { return const_cast<Queue&>(std::as_const(*this).queue(handle)); }
  [[nodiscard]] bool has_news(EqHandle queue) const;
  void check_descriptor(const MemoryDescriptor& descriptor) const;
  void pay_for(const MemoryDescriptor& descriptor, Unlink unlink);
  void begin(OperationKind kind, MdHandle md, Bytes offset, Bytes bytes, Ack ack, const Target& target,
             std::uint64_t header_data);

  PortalsNetwork& network_;
  sim::ModelHost host_;
  MatchTable table_;
  std::vector<std::unique_ptr<Queue>> queues_;
  Bytes entries_ = 0;
  NiCounters counters_;
};

}  // namespace gasmeter::networks::portals

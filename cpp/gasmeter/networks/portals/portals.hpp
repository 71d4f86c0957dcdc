// Portals 3.3 as one rank's software has it: a network interface with its table, descriptors and event queues.
//
// Called by the rank's own body, or on the main stack before it runs. What it does to lists that the card or the
// interrupted core walk happens at the rank's clock.
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
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::portals {

class PortalsNetwork;

struct NiCounters {
  std::uint64_t puts = 0;  // begun here
  std::uint64_t gets = 0;
  std::uint64_t arrived = 0;     // messages, of all kinds
  std::uint64_t interrupts = 0;  // of a core, for them
  std::uint64_t drops = 0;       // puts and gets that nothing took, answers to what is gone
  std::uint64_t steps = 0;       // entries that were looked at
  std::uint64_t waited = 0;      // messages that found no DMA slot
};

// Where an operation goes.
struct Target {
  Rank rank{};
  std::uint32_t portal = 0;
  std::uint64_t match_bits = 0;
  Bytes offset = 0;  // in the descriptor there, if that takes one
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
  // Of its event queues.
  [[nodiscard]] Bytes reserved_bytes() const { return entries_ * kEventEntry; }
  // Its memory descriptors and event queues (holdings.cpp).
  [[nodiscard]] std::vector<conduit::Holding> holdings() const;

  // ---- event queues
  // Of so many events, which software has to take before there are more: one too many ends the run with a BrokenJob.
  // `name`: what software calls it, a literal.
  EqHandle eq_alloc(std::uint32_t events, const char* name = "");
  // No descriptor may have it any more.
  void eq_free(EqHandle queue);
  // The oldest one, at host.eq_event. None: nothing was charged; whoever polls pays host.eq_empty for the look.
  std::optional<Event> eq_get(EqHandle queue);
  [[nodiscard]] bool is_empty(EqHandle queue) const;  // at the rank's clock, if it is synchronised; costs nothing

  // ---- match entries: a system call each
  MeHandle me_attach(std::uint32_t portal, const MatchEntry& entry, Position position = Position::after);
  MeHandle me_insert(MeHandle beside, const MatchEntry& entry, Position position);
  // With its descriptor. False: operations of that are under way.
  [[nodiscard]] bool me_unlink(MeHandle entry);

  // ---- memory descriptors: registration, and deregistration of what goes. Both are paid for at once by one that goes
  // by itself (Unlink::unlink).
  MdHandle md_attach(MeHandle entry, const MemoryDescriptor& descriptor, Unlink unlink = Unlink::retain);
  MdHandle md_bind(const MemoryDescriptor& descriptor, Unlink unlink = Unlink::retain);
  // False: operations are under way (PTL_MD_IN_USE).
  [[nodiscard]] bool md_unlink(MdHandle md);
  // Only while the queue is empty, which may be none, and nothing has matched of which that is to tell next. False
  // (PTL_MD_NO_UPDATE): it is not, or operations are under way.
  [[nodiscard]] bool md_update(MdHandle md, const MemoryDescriptor& descriptor, EqHandle queue);
  [[nodiscard]] bool exists(MdHandle md) const { return table_.exists(md); }

  // ---- operations, of [offset, offset + bytes) of the local descriptor; they return when the card has the command.
  // Throw UsageError for a rank, portal or descriptor that does not exist, for bytes outside of it, and for one that
  // takes no more.
  void put(MdHandle md, Bytes offset, Bytes bytes, Ack ack, const Target& target, std::uint64_t header_data = 0);
  void get(MdHandle md, Bytes offset, Bytes bytes, const Target& target);

  // ---- for cards
  [[nodiscard]] MatchTable& table() { return table_; }
  [[nodiscard]] sim::ModelHost host() const { return host_; }
  // The descriptor takes an operation: PUT_START or GET_START follows.
  void matched(MdHandle md);
  // Writes an event, unless its descriptor has no queue or wants none of the kind.
  void tell(MdHandle md, Event event, SimTime now);
  // An operation has ended.
  void end(MdHandle md, SimTime now);
  // The descriptor goes with what was the last of it, if it goes by itself.
  void settle(MdHandle md, SimTime now);

 private:
  struct Queue {
    Queue(sim::Engine& engine, NodeId node, Rank owner) : events(engine, node, owner) {}
    services::EventQueue<Event> events;
    std::uint32_t most = 0;
    std::uint32_t coming = 0;  // PUT_START and GET_START of what has matched
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

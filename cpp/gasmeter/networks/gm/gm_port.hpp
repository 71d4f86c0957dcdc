// GM as one rank's software uses it: a port with its tokens, receives and events.
//
// The calls of software try, and never wait. The rank's own program makes them, or the job's thread before the rank
// runs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/number_pool.hpp"
#include "gasmeter/base/sparse_table.hpp"
#include "gasmeter/base/status.hpp"
#include "gasmeter/networks/gm/connection.hpp"
#include "gasmeter/networks/gm/event.hpp"
#include "gasmeter/networks/gm/packet.hpp"
#include "gasmeter/networks/gm/parameters.hpp"
#include "gasmeter/services/event_queue.hpp"
#include "gasmeter/services/registered_memory.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::gm {

class GmNetwork;

struct PortCounters {
  std::uint64_t sends = 0;         // messages, directed sends and gets
  std::uint64_t refused = 0;       // calls without a token
  std::uint64_t no_receive = 0;    // messages that found no receive at this port
  std::uint64_t sent_again = 0;    // how often sends of this port were held and sent again
  std::uint64_t interrupts = 0;    // of this port's rank
  std::uint64_t out_of_order = 0;  // packets that followed a refused one
};

class GmPort {
 public:
  GmPort(GmNetwork& network, sim::ModelHost host);
  GmPort(const GmPort&) = delete;
  GmPort& operator=(const GmPort&) = delete;

  [[nodiscard]] Rank rank() const { return host_.rank(); }
  [[nodiscard]] const GmParameters& parameters() const;
  [[nodiscard]] PortCounters& counters() { return counters_; }
  // Bytes of its events.
  [[nodiscard]] Bytes reserved_bytes() const;

  // Let events interrupt the rank while it computes. Call it before the rank runs. Throws UsageError for a machine
  // without a price of an interrupt.
  void take_interrupts();

  // Register memory for the card, and for directed sends and gets of peers. The rank pays. Throws UsageError for more
  // than dmaable_left().
  void register_memory(std::span<std::byte> memory);
  // Do the same for memory whose registration the caller has already paid for.
  void admit(std::span<std::byte> memory) { registered_.admit(memory); }
  // Undo one registration, whose price the caller has paid. No send that names the memory may be in flight.
  void dismiss(std::span<std::byte> memory) { registered_.dismiss(memory); }
  // Return how many bytes the rank may still register: the limit less what the rank has registered itself. Empty: there
  // is no limit.
  [[nodiscard]] std::optional<Bytes> dmaable_left() const;
  [[nodiscard]] bool is_registered(const void* memory, Bytes bytes) const { return registered_.holds(memory, bytes); }

  [[nodiscard]] unsigned send_tokens() const { return static_cast<unsigned>(tokens_.free()); }
  [[nodiscard]] unsigned receive_tokens() const { return receive_tokens_; }

  // Send a message. no_resource: there is no token, and nothing was charged. The token returns with its event, and the
  // memory may not change before. Throws UsageError for a rank or size class that does not exist, and for too many
  // bytes of the class. The same holds for memory that is not registered.
  Status send(Rank to, const void* message, Bytes bytes, SizeClass size, Priority priority, std::uint64_t id);
  // Write into the target's registered memory, without a receive or an event there. The send is in line with messages
  // of the priority.
  Status directed_send(Rank to, void* remote, const void* local, Bytes bytes, Priority priority, std::uint64_t id);
  // Read the target's registered memory. The target's card answers without its software. The get takes a token and is
  // in line with sends. Throws UsageError if the installation has no gets.
  Status get(Rank from, void* local, const void* remote, Bytes bytes, Priority priority, std::uint64_t id);
  // Provide a buffer. no_resource: there is no token. Throws UsageError for memory that is not registered, or too small
  // for messages of the class.
  Status provide_receive(const Receive& receive);

  // Take the next event. If there is none, the caller charges the price of a poll that finds nothing.
  std::optional<Event> poll();

  // ---- the card's side
  struct Sending {
    PacketKind kind = PacketKind::message;
    SizeClass size = 0;                  // of a message
    const std::byte* read_at = nullptr;  // of a get: at the target
    std::byte* write_at = nullptr;       // of a directed send: at the target
    Bytes bytes = 0;
    std::uint64_t id = 0;
    std::uint32_t number = 0;  // number in the order of the connection
    std::uint32_t next = 0;    // token of the connection's next send
  };
  // Return a connection. An idle connection is opened at no price: a job finds its peers before it is measured.
  [[nodiscard]] Connection& connection(Rank peer, Priority priority);
  [[nodiscard]] Sending& sending(std::uint32_t token) { return sendings_[token]; }
  void tell(const Event& event, SimTime now);
  [[nodiscard]] bool take_receive(SizeClass size, Priority priority, Receive& receive);
  void require_registered(const void* memory, Bytes bytes, const char* operation, Rank by) const {
    if (bytes != 0) registered_.require(memory, bytes, operation, by);
  }
  // Wake the rank, whose memory has changed without an event. Such a change causes no interrupt.
  void wake(SimTime now);

 private:
  void check_peer(Rank peer) const;
  Status post(Rank to, const Sending& sending, Priority priority);

  GmNetwork& network_;
  sim::ModelHost host_;
  services::EventQueue<Event> events_;
  bool takes_interrupts_ = false;
  bool interrupted_ = false;  // since the last poll: it finds all events, so one interrupt is enough
  services::RegisteredMemory registered_;
  Bytes own_pages_ = 0;  // bytes of pages that the rank registered itself
  // Tokens as the rank knows them. Tokens of sends and receives return when the rank takes their events.
  NumberPool tokens_;              // of sends
  std::vector<Sending> sendings_;  // by token; includes gets
  unsigned receive_tokens_;
  // Receives in the order of provision. The last one of a class is taken first: a rank with few messages then touches
  // few buffers. Taking turns would make all buffers resident.
  std::array<std::vector<Receive>, kPriorities> receives_;
  std::array<SparseTable<Standing>, kPriorities> standings_;  // of connections, by priority and peer
  PortCounters counters_;
};

}  // namespace gasmeter::networks::gm

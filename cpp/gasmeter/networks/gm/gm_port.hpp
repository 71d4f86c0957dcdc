// GM as one rank's software has it: a port, its tokens, its receives and its events.
//
// Hooks try and never wait. Called by the rank's own body, or on the main stack before it runs.
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
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::gm {

class GmNetwork;

struct PortCounters {
  std::uint64_t sends = 0;         // messages, directed sends and gets
  std::uint64_t refused = 0;       // that there was no token for
  std::uint64_t no_receive = 0;    // messages that found no receive here
  std::uint64_t sent_again = 0;    // times that this port's sends were held and went again
  std::uint64_t interrupts = 0;    // of this port's rank
  std::uint64_t out_of_order = 0;  // packets that came behind a refused one
};

class GmPort {
 public:
  GmPort(GmNetwork& network, sim::ModelHost host);
  GmPort(const GmPort&) = delete;
  GmPort& operator=(const GmPort&) = delete;

  [[nodiscard]] Rank rank() const { return host_.rank(); }
  [[nodiscard]] const GmParameters& parameters() const;
  [[nodiscard]] PortCounters& counters() { return counters_; }
  // Its events.
  [[nodiscard]] Bytes reserved_bytes() const;

  // Before the rank runs: events that come while it computes interrupt it. Throws UsageError where that has no price.
  void take_interrupts();

  // The card may reach all of it from now on, and so may other ranks' directed sends and gets. Throws UsageError for
  // more than what is left.
  void register_memory(std::span<std::byte> memory);
  // The same, registered already: whoever says so has paid for it.
  void admit(std::span<std::byte> memory) { registered_.admit(memory); }
  // Takes that back, once; whoever does so has paid for it. No send that names the memory may be under way.
  void dismiss(std::span<std::byte> memory) { registered_.dismiss(memory); }
  // What the rank may still register, as far as it has done so itself; empty: as much as it likes.
  [[nodiscard]] std::optional<Bytes> dmaable_left() const;
  [[nodiscard]] bool is_registered(const void* memory, Bytes bytes) const { return registered_.holds(memory, bytes); }

  [[nodiscard]] unsigned send_tokens() const { return static_cast<unsigned>(tokens_.free()); }
  [[nodiscard]] unsigned receive_tokens() const { return receive_tokens_; }

  // no_resource: there is no token; nothing was charged. A token returns with its event. The memory may not change
  // before. Throws UsageError for a rank or size class that does not exist, for more bytes than that class has, and for
  // memory that is not registered.
  Status send(Rank to, const void* message, Bytes bytes, SizeClass size, Priority priority, std::uint64_t id);
  // Into the target's registered memory, without a receive or an event there; in line with messages of the priority.
  Status directed_send(Rank to, void* remote, const void* local, Bytes bytes, Priority priority, std::uint64_t id);
  // Out of the target's registered memory, which its card reads without its software. Takes a token; is asked for in
  // line with what is sent. Throws UsageError where the installation has no gets.
  Status get(Rank from, void* local, const void* remote, Bytes bytes, Priority priority, std::uint64_t id);
  // no_resource: there is no token. Throws UsageError for memory that is not registered or has not as many bytes as
  // messages of the class may have.
  Status provide_receive(const Receive& receive);

  // The next event. None: a miss, which costs what the caller's wait charges for it.
  std::optional<Event> poll();

  // ---- the card's side
  struct Sending {
    PacketKind kind = PacketKind::message;
    SizeClass size = 0;                  // a message's
    const std::byte* read_at = nullptr;  // there, of a get
    std::byte* write_at = nullptr;       // there, of a directed send
    Bytes bytes = 0;
    std::uint64_t id = 0;
    std::uint32_t number = 0;  // of the connection's, in order
    std::uint32_t next = 0;    // token of the connection's next one
  };
  // Opened when nothing is under way there, at no price: a job finds its peers before it is measured.
  [[nodiscard]] Connection& connection(Rank peer, Priority priority);
  [[nodiscard]] Sending& sending(std::uint32_t token) { return sendings_[token]; }
  void tell(const Event& event, SimTime now);
  [[nodiscard]] bool take_receive(SizeClass size, Priority priority, Receive& receive);
  void require_registered(const void* memory, Bytes bytes, const char* what, Rank by) const {
    if (bytes != 0) registered_.require(memory, bytes, what, by);
  }
  // Of memory that has changed without an event: nothing interrupts for it.
  void wake(SimTime now);

 private:
  void check_peer(Rank peer) const;
  Status post(Rank to, const Sending& sending, Priority priority);

  GmNetwork& network_;
  sim::ModelHost host_;
  services::EventQueue<Event> events_;
  bool takes_interrupts_ = false;
  bool interrupted_ = false;  // since software looked: what else comes is found with that
  services::RegisteredMemory registered_;
  Bytes own_pages_ = 0;  // bytes of those that the rank has registered itself
  // The rank's own, as are those of receives: they return when it takes events.
  NumberPool tokens_;              // of sends
  std::vector<Sending> sendings_;  // by token; gets, too
  unsigned receive_tokens_;
  // In the order of their providing; the last one of a class is taken first: a rank whose receives are hardly used then
  // touches few of their buffers, where taking turns would make all of them resident.
  std::array<std::vector<Receive>, kPriorities> receives_;
  std::array<SparseTable<Standing>, kPriorities> standings_;  // of connections, by priority and peer
  PortCounters counters_;
};

}  // namespace gasmeter::networks::gm

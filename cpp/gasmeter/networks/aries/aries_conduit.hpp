// GASNet's aries-conduit over uGNI. Active messages are puts with flag into request areas and reply slots, and the
// receiver finds them by remote events. Puts, gets and atomics need only the cards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/base/fifo.hpp"
#include "gasmeter/base/number_pool.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/networks/aries/am_wire.hpp"
#include "gasmeter/networks/aries/aries_options.hpp"
#include "gasmeter/networks/aries/descriptors.hpp"
#include "gasmeter/networks/aries/job_memory.hpp"
#include "gasmeter/networks/aries/request_slots.hpp"
#include "gasmeter/networks/aries/transfers.hpp"

namespace gasmeter::networks::aries {

// Conduit of one rank. The network and the job's memory outlive it.
class AriesConduit final : public conduit::Conduit, public conduit::CountsItself, public conduit::ReservesMemory {
 public:
  // `job`: made with the same options.
  AriesConduit(Domain& domain, sim::ModelHost host, const AriesOptions& options, JobMemory& job);

  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return capabilities_; }
  void attach(std::span<std::byte> segment) override { transfers_.attach(segment); }
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override;
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message, conduit::OperationId local) override;
  void cancel(const conduit::AmBuffer& buffer) override;
  Status put(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root,
             conduit::OperationId local) override {
    return transfers_.put(peer, to, from, bytes, root, local);
  }
  Status get(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root) override {
    return transfers_.get(peer, to, from, bytes, root);
  }
  [[nodiscard]] bool offloads(conduit::AtomicType type, conduit::AtomicOps ops) const override;
  Status atomic(Rank peer, const conduit::RemoteAtomic& atomic, conduit::OperationId root) override {
    return transfers_.atomic(peer, atomic, root);
  }
  void forget(std::span<const std::byte> memory) override { transfers_.memory().forget(memory); }
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override;

  // Serve what waits for an event of this rank's own posts, rather than for a poll of its program.
  void serve();
  // Tell whether the rank has no post in flight and owes no credit.
  [[nodiscard]] bool is_quiet() const { return owed_.empty() && descriptors_.all_free(); }

  void add_to(conduit::Counts& counts) const override;
  [[nodiscard]] Bytes reserved_bytes() const override;

  // For tests.
  [[nodiscard]] const RequestSlots& slots() const { return slots_; }
  [[nodiscard]] const Descriptors& descriptors() const { return descriptors_; }
  [[nodiscard]] std::size_t free_reply_slots() const { return reply_slots_.free(); }
  [[nodiscard]] std::uint64_t credits_sent() const { return credits_sent_; }
  [[nodiscard]] Transfers& transfers() { return transfers_; }

 private:
  // Estimate: buffers for Longs whose payload the library holds. The last one is reserved for replies.
  static constexpr unsigned kLarges = 3;

  // Slots of a request in flight, by reply slot.
  struct Outgoing {
    Rank peer{};
    std::uint16_t first = 0;  // slot of the area
    std::uint16_t slots = 0;
  };
  // A request that has arrived.
  struct Incoming {
    Rank source{};
    std::uint16_t reply_slot = 0;
    bool is_short = false;  // the message lies in a short block
  };
  // The request whose handler runs.
  struct Handling {
    Incoming request;
    bool replied = false;
    std::uint32_t reply = Descriptors::kNone;  // reply that leaves when the handler has returned
  };

  // ---- sending
  [[nodiscard]] bool take(const conduit::AmHeader& header, const void* client, Bytes room, bool apart,
                          std::uint32_t& which);
  void give(std::uint32_t which, bool is_reply);
  void let_payload_go(std::uint32_t which);
  void keep_slots(std::uint16_t reply_slot, unsigned many);
  [[nodiscard]] std::uint32_t take_large();
  void send(std::uint32_t which);
  void give_back(std::uint16_t reply_slot);
  [[nodiscard]] bool send_credit(const Incoming& request);
  void push_owed();

  // ---- receiving
  [[nodiscard]] bool take_completions();
  void payload_arrived(std::uint32_t which);
  [[nodiscard]] unsigned take_arrivals(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter);
  void run_request(conduit::Delivery& sink, const Incoming& request);
  void run_reply(conduit::Delivery& sink, const Incoming& reply);
  void hand_over(conduit::Delivery& sink, const Incoming& message, std::byte* block);

  Domain& domain_;
  sim::ModelHost host_;
  AriesOptions options_;
  JobMemory& job_;
  conduit::Capabilities capabilities_;
  conduit::LocalCompletions done_;
  Descriptors descriptors_;
  Transfers transfers_;
  CqHandle arrivals_;
  RequestSlots slots_;
  NumberPool reply_slots_;
  std::vector<Outgoing> outgoing_;
  BufferPool replies_;  // a single buffer with all reply slots
  BufferPool larges_;
  std::vector<MemoryHandle> large_memory_;  // of the buffers that were used
  Fifo<Incoming> deferred_;                 // requests
  std::vector<Incoming> owed_;              // credits that wait for a descriptor
  Handling* handling_ = nullptr;
  bool news_ = false;  // a call that was refused may succeed now
  bool more_ = false;  // a poll has stopped before events
  std::uint64_t credits_sent_ = 0;
  conduit::ConduitCounters handed_;
};

}  // namespace gasmeter::networks::aries

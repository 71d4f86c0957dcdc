// GASNet's ibv-conduit of the time over verbs. Active messages are sends with credits, or RDMA writes into rings for
// hot peers. Put and get are RDMA, and the adapters do atomics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/base/fifo.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/networks/ibv/am_rings.hpp"
#include "gasmeter/networks/ibv/am_wire.hpp"
#include "gasmeter/networks/ibv/ibv_context.hpp"
#include "gasmeter/services/card_memory.hpp"
#include "gasmeter/services/node_ams.hpp"

namespace gasmeter::networks::ibv {

// Limits of the conduit. The defaults are those of GASNet's ibv-conduit of 2012.
struct IbvLimits {
  unsigned peer_requests = 12;      // requests in flight to a rank: its credits
  unsigned all_requests = 256;      // requests in flight to all ranks, and at most peer_requests to each
  unsigned banked = 1;              // credits that wait for the next message back; a hidden reply returns more
  unsigned peer_sends = 24;         // work requests to a rank whose completion has not been polled
  unsigned all_sends = 255;         // work requests to all ranks
  unsigned shared_receives = 1024;  // buffers for requests of all ranks; fewer if credits allow fewer requests
  unsigned large_buffers = 48;      // of 64 KiB, for larger payloads; 4 MiB together with those of 4 KiB
  bool pins_outside = false;        // put and get register memory outside the segment instead of copying it
  conduit::PinLimits pins{};        // limits of memory that they and pin() register
  RingLimits rings{};               // of messages by RDMA
};

// Conduit of one rank. The network outlives it. No other object uses its context.
class IbvConduit final : public conduit::Conduit, public conduit::ReservesMemory {
 public:
  // `near`: boxes of the nodes, which carry messages between node mates. Null: the adapter carries them. Throws
  // UsageError for limits that could not carry a message.
  IbvConduit(IbvContext& context, sim::ModelHost host, unsigned ranks, const IbvLimits& limits = {},
             services::AmBoxes* near = nullptr);

  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return capabilities_; }
  void attach(std::span<std::byte> segment) override;
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override;
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message, conduit::OperationId local) override;
  void cancel(const conduit::AmBuffer& buffer) override;
  Status put(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root,
             conduit::OperationId local) override;
  Status get(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root) override;
  [[nodiscard]] bool offloads(conduit::AtomicType type, conduit::AtomicOps ops) const override;
  // Throws UsageError for an operation without an instruction of the adapter.
  Status atomic(Rank peer, const conduit::RemoteAtomic& atomic, conduit::OperationId root) override;
  Status pin(std::span<std::byte> memory, conduit::Pin& pinned) override { return memory_.pin(memory, pinned); }
  void unpin(conduit::Pin pinned) override { (void)memory_.unpin(pinned); }
  void forget(std::span<const std::byte> memory) override { memory_.forget(memory); }
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override;
  [[nodiscard]] Bytes reserved_bytes() const override;

  // For tests.
  [[nodiscard]] unsigned credits(Rank peer) const { return peers_[index(peer)].credits; }
  [[nodiscard]] std::uint64_t hidden_replies() const { return hidden_replies_; }
  [[nodiscard]] std::size_t granted_rings() const { return rings_.granted(); }
  [[nodiscard]] const services::CacheCounters& registrations() const { return memory_.counters(); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  struct Peer {
    std::uint16_t credits = 0;  // requests that may be sent
    std::uint16_t sends = 0;    // in the send queues to the peer
    std::uint16_t banked = 0;   // credits that the next message returns to the peer
    std::uint16_t emptied = 0;  // slots of the peer's ring that the next message returns
    bool owed = false;          // the peer is in owed_
  };
  using Memory = services::CardMemory<IbvContext>;
  // An operation that ends with a completion, by the number of its buffer.
  struct Operation {
    Rank peer{};
    std::uint16_t sends = 1;  // work requests
    std::uint32_t large = kNone;
    conduit::OperationId root = conduit::kNoOperation;
    conduit::OperationId local = conduit::kNoOperation;
    void* copy_to = nullptr;  // destination of a get's or an atomic's result that is not registered
    const std::byte* copy_from = nullptr;
    Bytes bytes = 0;
    Memory::Reached reached{};
  };

  // ---- sending
  [[nodiscard]] bool has_room(Rank peer, unsigned sends, bool large, bool is_reply) const;
  std::uint32_t take_buffer(Rank peer, unsigned sends, bool large);
  void give_buffer(std::uint32_t which);
  void post(Rank peer, const WorkRequest& request, unsigned number);
  [[nodiscard]] AmFlow take_flow(Rank peer, bool is_reply);
  void send_message(Rank peer, std::uint32_t which, std::byte* message, Bytes bytes, AmWord word, std::byte* slot);
  [[nodiscard]] bool send_hidden_reply(Rank peer);
  [[nodiscard]] bool send_grant(Rank peer);
  void push_owed();
  [[nodiscard]] bool is_outside(const void* memory, Bytes bytes) const;
  [[nodiscard]] bool is_reached(Bytes bytes) const;
  [[nodiscard]] std::byte* place(std::uint32_t which, Bytes bytes);

  // ---- receiving
  void finish(const WorkCompletion& completion);
  void add_flow(Rank peer, AmFlow flow);
  void bank(Rank peer);
  void count_small(Rank peer, Bytes bytes);
  void post_receive(std::uint32_t which, bool reply);
  [[nodiscard]] bool take(const WorkCompletion& completion, conduit::Delivery& sink, conduit::PollFilter filter);
  bool deliver_request(conduit::Delivery& sink, const WorkCompletion& completion);
  void deliver_reply(conduit::Delivery& sink, const WorkCompletion& completion);
  [[nodiscard]] unsigned poll_rings(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter,
                                    std::int64_t& vain_looks);
  [[nodiscard]] bool poll_ring(std::size_t which, conduit::Delivery& sink, conduit::PollFilter filter);
  [[nodiscard]] bool deliver_ringed(std::size_t which, conduit::Delivery& sink, const RingHeader& header);
  void run(conduit::Delivery& sink, Rank from, AmWord word, std::byte* message, bool& replied);
  void hand_over(conduit::Delivery& sink, Rank from, AmWord word, std::byte* message);

  IbvContext& context_;
  sim::ModelHost host_;
  IbvLimits limits_;
  conduit::Capabilities capabilities_;
  conduit::LocalCompletions done_;
  services::NodeAms near_;
  std::vector<Peer> peers_;
  unsigned requests_left_ = 0;
  unsigned sends_left_ = 0;
  unsigned requests_posted_ = 0;  // receives for requests; those for replies follow, then a spare one
  BufferPool small_;              // message buffers, one for each work request that may be in flight
  BufferPool large_;
  BufferPool receives_;
  AmRings rings_;
  std::size_t next_ring_ = 0;                        // the next ring to poll
  std::array<std::vector<std::byte>, 2> relocated_;  // Mediums out of rings: a request, and a reply in its handler
  Memory memory_;                                    // outside the segment, of transfers and pins
  std::vector<Operation> operations_;                // by number of its small buffer
  std::uint32_t spare_ = 0;                          // receive buffer that replaces one in use
  Fifo<WorkCompletion> deferred_;                    // requests
  std::vector<Rank> owed_;                           // peers that wait for room for a hidden reply
  std::vector<Rank> promised_;                       // peers that wait for a credit and room to be granted a ring
  bool* replied_ = nullptr;                          // of the request whose handler runs
  bool news_ = false;                                // a call that was refused may succeed now
  std::uint64_t hidden_replies_ = 0;
};

}  // namespace gasmeter::networks::ibv

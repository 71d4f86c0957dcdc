// Conduit over GM ports, as GASNet's gm-conduit was in the years of GM. Active messages are GM messages between
// registered buffers of one size. A directed send carries a long payload before its message. Options choose whether the
// cards do puts and gets, or core does them by messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/base/fifo.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/networks/gm/am_wire.hpp"
#include "gasmeter/networks/gm/gm_port.hpp"
#include "gasmeter/services/card_memory.hpp"
#include "gasmeter/services/node_ams.hpp"

namespace gasmeter::networks::gm {

// Limits of the conduit. The defaults are those of GASNet's released gm-conduit, as far as its sources state them.
struct GmLimits {
  Bytes packed_long = 2048;        // largest payload of a Long within its message
  bool directed_puts = false;      // puts are directed sends, not messages
  bool gets = false;               // the cards do gets, not messages
  bool interrupts = false;         // an arriving message interrupts a computing rank, which then handles it
  bool pins = false;               // programs may pin memory
  bool registers = true;           // transfers register memory outside the segment; false: they copy all of it
  Bytes copied = 8192;             // largest transfer that is copied all the same: hw.gm.copy-through-send-buffer-up-to
  std::uint64_t pinned_pages = 0;  // pages that transfers and pins may register; 0: as many as the device takes
};

// Conduit of one rank. The network outlives it. No other object uses its port.
class GmConduit final : public conduit::Conduit, public conduit::ReservesMemory {
 public:
  // `near`: boxes of the nodes, which carry messages between node mates. Null: the card carries them.
  GmConduit(GmPort& port, sim::ModelHost host, unsigned ranks, const GmLimits& limits = {},
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
  Status pin(std::span<std::byte> memory, conduit::Pin& pinned) override;
  void unpin(conduit::Pin pinned) override;
  void forget(std::span<const std::byte> memory) override;
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override;
  [[nodiscard]] Bytes reserved_bytes() const override;

  // For tests.
  [[nodiscard]] const services::CacheCounters& registrations() const { return memory_->counters(); }

 private:
  // Tokens reserved for replies: as many as the largest reply needs. Requests may wait for receives at a rank that
  // itself waits for room for a reply. Replies therefore never wait.
  static constexpr unsigned kReplyTokens = 2;

  using Memory = services::CardMemory<GmPort>;
  // A put or get in flight, by the number of its buffer.
  struct Operation {
    conduit::OperationId root = conduit::kNoOperation;
    conduit::OperationId local = conduit::kNoOperation;
    void* copy_to = nullptr;  // destination of a get's data in the buffer
    Bytes bytes = 0;
    Memory::Reached reached{};
  };

  // ---- sending
  void give_buffer(std::uint32_t which);
  [[noreturn]] static void out_of_tokens();

  // ---- transfers by the card
  void open_memory(std::span<std::byte> segment);
  [[nodiscard]] bool is_outside(const void* memory, Bytes bytes) const;
  [[nodiscard]] Bytes most_copied() const { return limits_.registers ? limits_.copied : kAmBuffer; }
  [[nodiscard]] std::uint32_t take_transfer(conduit::OperationId root);
  void finish(std::uint32_t which);

  // ---- receiving
  void provide(std::uint32_t which, Priority priority);
  [[nodiscard]] bool take(const Event& event, conduit::Delivery& sink, conduit::PollFilter filter);
  void deliver(conduit::Delivery& sink, const Event& event);
  void hand_over(conduit::Delivery& sink, Rank from, std::byte* message);

  GmPort& port_;
  sim::ModelHost host_;
  GmLimits limits_;
  unsigned ranks_;
  conduit::Capabilities capabilities_;
  conduit::LocalCompletions done_;
  services::NodeAms near_;
  BufferPool sends_;                   // send buffers, one for each token
  std::vector<std::uint8_t> awaited_;  // by buffer: sends in flight, or prepared
  unsigned tokens_;                    // send tokens that no message or transfer has taken
  std::vector<Operation> operations_;  // by buffer; empty: the conduit has no transfers by the card
  std::optional<Memory> memory_;       // from attach() on, if the conduit transfers or pins
  BufferPool receives_;
  Fifo<Event> deferred_;  // requests
};

}  // namespace gasmeter::networks::gm

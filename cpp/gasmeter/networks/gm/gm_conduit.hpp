// GASNet's gm-conduit of the time over ports: active messages by GM messages between registered buffers of one size,
// long payloads by directed sends in front of them. Put and get are the cards' where it is told so, else core's, by
// messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/networks/gm/am_wire.hpp"
#include "gasmeter/networks/gm/gm_port.hpp"
#include "gasmeter/networks/gm/local_memory.hpp"
#include "gasmeter/services/node_ams.hpp"

namespace gasmeter::networks::gm {

// The defaults are those of protocol_constants.csv, rows gm-conduit, as far as those say anything.
struct GmLimits {
  Bytes packed_long = 2048;        // payload of a Long that the message carries itself
  bool directed_puts = false;      // puts are directed sends, not messages
  bool gets = false;               // gets are the cards', not messages
  bool interrupts = false;         // what comes while the rank computes interrupts it, and is handled then
  bool pins = false;               // programs may pin memory
  bool registers = true;           // transfers register memory outside the segment; else they copy all of it
  Bytes copied = 8192;             // ... but copy no more bytes than these: hw.gm.copy-through-send-buffer-up-to
  std::uint64_t pinned_pages = 0;  // that may be registered so; 0: as many as the device takes
};

// One rank's. Lives no longer than the network. Has the port to itself.
class GmConduit final : public conduit::Conduit, public conduit::ReservesMemory {
 public:
  // `near`: boxes of the nodes, which carry messages for ranks of the own node; null: the card does, too.
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
  // Requests may have to wait for receives at a rank that waits for room for a reply. Replies never have to: as many
  // tokens are kept for them as the largest takes.
  static constexpr unsigned kReplyTokens = 2;

  // Put or get under way, known by the number of its buffer.
  struct Operation {
    conduit::OperationId root = conduit::kNoOperation;
    conduit::OperationId local = conduit::kNoOperation;
    void* copy_to = nullptr;  // where what a get brings goes out of the buffer
    Bytes bytes = 0;
    LocalMemory::Reached reached{};
  };

  // ---- sending
  [[nodiscard]] bool is_near(Rank rank) const { return near_ && near_->reaches(rank); }
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
  std::optional<services::NodeAms> near_;
  BufferPool sends_;                   // that messages are built in: one for each token
  std::vector<std::uint8_t> awaited_;  // of each of them: sends that it is under way in, or prepared for
  unsigned tokens_;                    // of sends that nobody has prepared
  std::vector<Operation> operations_;  // by number of its buffer; none: there are no such transfers
  std::optional<LocalMemory> memory_;  // from attach() on, of who transfers or pins
  BufferPool receives_;
  std::vector<Event> deferred_;  // requests, from first_deferred_ on
  std::size_t first_deferred_ = 0;
};

}  // namespace gasmeter::networks::gm

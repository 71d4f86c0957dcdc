// GASNet's Core API on SCI cards. Senders store messages into slots that the receiver keeps for them. Flags say that a
// message has arrived, and DMA carries long payloads.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/networks/sci/am_wire.hpp"
#include "gasmeter/networks/sci/command_segment.hpp"
#include "gasmeter/networks/sci/control_segment.hpp"
#include "gasmeter/networks/sci/sci_options.hpp"
#include "gasmeter/networks/sci/sisci.hpp"
#include "gasmeter/services/node_ams.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "gasmeter/sim/trace/step.hpp"

namespace gasmeter::networks::sci {

// Conduit of one rank. The network outlives it. No other object uses the card's SISCI of that rank.
class SciConduit final : public conduit::Conduit, public conduit::ReservesMemory {
 public:
  // `near`: boxes of the nodes, which carry messages between node mates.
  SciConduit(Sisci& sisci, sim::ModelHost host, unsigned ranks, const SciOptions& options, services::AmBoxes& near);

  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return capabilities_; }
  void attach(std::span<std::byte> segment) override;
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override;
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& commit, conduit::OperationId local) override;
  void cancel(const conduit::AmBuffer& buffer) override;
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override;
  [[nodiscard]] Bytes reserved_bytes() const override;
  // Announce messages whose payload is still in flight. A rank calls this on its own fibre before it ends.
  void settle();
  // Requests that hold slots at a peer: it has not handled them yet, as far as this rank knows.
  [[nodiscard]] unsigned requests_under_way(Rank peer) const {
    const auto entry = peers_.find(index(peer));
    return entry == peers_.end() ? 0 : static_cast<unsigned>(std::popcount(entry->second.under_way));
  }

 private:
  static constexpr std::uint16_t kNone = 0xffff;
  enum SegmentId : std::uint32_t { kCommands, kControl, kPayload };

  // Resources of a prepared message, kept in AmBuffer::slot.
  struct Taken {
    std::uint16_t pair = 0;
    std::uint16_t small = kNone;     // buffer that the payload is made in
    std::uint16_t transfer = kNone;  // staging buffer for DMA
    std::uint16_t unused = 0;
  };
  // Segments of a peer, connected at the first message.
  struct Peer {
    RemoteSegment commands;
    Segment* control = nullptr;
    Segment* payload = nullptr;
    std::uint16_t under_way = 0;  // requests in flight, a bit for each pair of slots
    // Split queues: messages prepared for the peer, sent to the peer, and taken from the peer.
    std::uint16_t prepared = 0;
    std::uint32_t sent = 0;
    std::uint32_t taken = 0;
  };
  // A message whose payload DMA carries. Its flags follow.
  struct Transfer {
    Rank peer{};
    std::uint32_t slot = 0;
    bool done = false;
    conduit::OperationId local = conduit::kNoOperation;
  };
  // The request whose handler runs.
  struct Handling {
    std::uint32_t answer = 0;  // slot of its reply
    bool replied = false;
    bool announces = false;  // the reply's flags wait for the handler's end
  };

  [[nodiscard]] bool is_near(Rank rank) const { return services::are_node_mates(host_, rank); }
  [[nodiscard]] Peer& peer(Rank rank);
  [[nodiscard]] bool may_go_by_dma(const conduit::AmHeader& header, Bytes size) const;
  [[nodiscard]] bool find_slot(const conduit::AmHeader& header, Peer& to, Taken& taken);
  void take_slot(const conduit::AmHeader& header, Peer& to, const Taken& taken);
  void leave_slot(const conduit::AmHeader& header, Peer& to, const Taken& taken);
  [[nodiscard]] std::uint32_t slot_of(const conduit::AmHeader& header, Peer& to, const Taken& taken);
  void give(const Taken& taken);

  // Division of a Long's bytes. Head and tail, which DMA cannot carry because of alignment, lie in the slot.
  struct Parts {
    Bytes at = 0;    // offset of the destination in the peer's segment
    Bytes head = 0;  // bytes
    Bytes middle = 0;
    Bytes tail = 0;
  };
  [[nodiscard]] Parts parts_of(Peer& to, Rank rank, const void* destination, Bytes size);
  void store(const RemoteSegment& to, Bytes at, std::span<const std::byte> bytes, sim::Step step = sim::Step::doorbell);
  void fill_slot(const Peer& to, std::uint32_t slot, std::span<const std::byte> header, Bytes payload_at,
                 std::span<const std::byte> payload, std::byte* prepared);
  void post(Rank rank, std::uint32_t slot, const Parts& parts, const std::byte* from, std::uint16_t transfer,
            conduit::OperationId local);
  void announce(Rank rank, std::uint32_t slot, std::byte says);
  void finish_transfers();

  unsigned scan(conduit::Delivery& sink, unsigned budget, bool replies_only);
  [[nodiscard]] bool is_reply(std::uint32_t slot) const;
  [[nodiscard]] bool may_take(std::uint32_t slot, bool replies_only) const;
  void take(conduit::Delivery& sink, const ControlSegment::Flag& flag);
  void take_request(conduit::Delivery& sink, std::uint32_t slot);
  void take_reply(conduit::Delivery& sink, const ControlSegment::Flag& flag);
  void tell_taken(Rank source);
  void hand_over(conduit::Delivery& sink, Rank source, std::uint32_t slot);

  Sisci& sisci_;
  sim::ModelHost host_;
  SciOptions options_;
  Layout layout_;
  conduit::Capabilities capabilities_;
  CommandSegment commands_;
  ControlSegment control_;
  std::optional<MemorySegment> payload_;
  services::NodeAms near_;
  std::unordered_map<std::uint32_t, Peer> peers_;  // by rank: peers that this rank has communicated with
  BufferPool small_;
  std::optional<BufferPool> staging_;  // none: the conduit uses no DMA
  std::vector<Transfer> transfers_;    // by staging buffer
  std::deque<std::uint16_t> posted_;   // transfers in the queue of the card
  conduit::LocalCompletions done_;
  Handling* handling_ = nullptr;
  std::optional<Rank> asked_;             // Ibel's remote queue: the rank whose reply is awaited
  std::vector<std::byte> joined_;         // header and payload, if one store carries both
  std::optional<std::uint32_t> scan_at_;  // the flag at which the scan continues
  bool left_requests_ = false;            // the scan passed over flags of requests
  bool left_replies_ = false;             // flags of replies may be set though the exist flag is cleared
  bool news_ = false;                     // a resource that a caller may wait for is free again
};

}  // namespace gasmeter::networks::sci

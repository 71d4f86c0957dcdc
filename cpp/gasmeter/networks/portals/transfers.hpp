// Puts and gets of one rank, which are Portals operations, and resources that all operations of its conduit share. The
// resources are send tokens (one for each operation in flight), buffers for messages and small transfers, and the queue
// of their events (SAFE_EQ).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/base/number_pool.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/networks/portals/am_wire.hpp"
#include "gasmeter/networks/portals/local_memory.hpp"
#include "gasmeter/networks/portals/portals.hpp"
#include "gasmeter/networks/portals/portals_options.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::portals {

// Begin of each rank's segment, as ranks tell each other at startup.
using SegmentBases = std::vector<std::byte*>;

class Transfers {
 public:
  // Tokens reserved for replies: as many as the largest reply needs.
  static constexpr unsigned kReplyTokens = 2;
  static constexpr std::uint32_t kNone = 0xffffffffU;

  // `done`: receives local completions of puts whose source was copied.
  Transfers(Portals& portals, sim::ModelHost host, const PortalsOptions& options, SegmentBases& bases,
            conduit::LocalCompletions& done);

  // `messages`: queue for payloads of Longs. None: the conduit has no Longs of its own.
  void attach(std::span<std::byte> segment, EqHandle messages);
  [[nodiscard]] Status put(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root,
                           conduit::OperationId local);
  [[nodiscard]] Status get(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root);
  void forget(std::span<const std::byte> memory) { local_.forget(memory); }
  [[nodiscard]] Bytes most_transfer() const;

  // ---- for messages
  // Put a Long's payload, with a token that was taken. `large`: the buffer that holds the payload, which is given back
  // afterwards. kNone: the payload lies in the program's memory, and `local` tells when that may change. Return false
  // if that memory cannot be registered now.
  [[nodiscard]] bool put_payload(Rank peer, Md md, void* to, const void* from, Bytes bytes, std::uint32_t lid,
                                 conduit::OperationId local, std::uint32_t large);
  [[nodiscard]] unsigned tokens() const { return tokens_; }
  void take_tokens(unsigned many) { tokens_ -= many; }
  void give_tokens(unsigned many) { tokens_ += many; }
  [[nodiscard]] NumberPool& chunks() { return chunks_; }
  [[nodiscard]] std::byte* chunk(std::uint32_t which) const { return memory_.at(which); }
  // The descriptor of all chunks. Requests and small transfers leave from chunks; replies and small gets arrive in
  // them.
  [[nodiscard]] MdHandle chunks_md() const { return chunks_md_; }
  // Take a buffer of kMostLong bytes. The last one is reserved for replies. kNone: none is free.
  [[nodiscard]] std::uint32_t take_large(bool is_reply);
  [[nodiscard]] std::byte* large(std::uint32_t which) const { return larges_.at(which); }
  void give_large(std::uint32_t which) { larges_.give(which); }

  // ---- events
  [[nodiscard]] EqHandle events() const { return events_; }
  // Take events until `handed` reaches the budget. `other` gets the events that belong neither to a transfer nor to a
  // payload that has left. Return true if more events may wait. The calling wait charges a look without success.
  template <class Other>
  [[nodiscard]] bool take_events(conduit::Delivery& sink, unsigned budget, unsigned& handed, Other&& other) {
    for (unsigned taken = 0; handed < budget; ++taken) {
      if (taken == kEventsOfPoll) return true;
      const std::optional<Event> event = portals_.eq_get(events_);
      if (!event) {
        if (taken != 0) host_.spend(portals_.parameters().eq_empty, sim::Step::poll);
        return false;
      }
      if (!take(*event, sink, handed)) other(*event);
    }
    return false;
  }
  // Tell whether an event has freed a resource since the last call.
  [[nodiscard]] bool take_news();
  void tell_news() { news_ = true; }

  [[nodiscard]] Bytes reserved_bytes() const;
  void add_to(conduit::Counts& counts) const;

 private:
  static constexpr std::uint32_t kLarges = 9;
  static constexpr unsigned kEventsOfPoll = 12;  // as the released conduit in a safe poll

  struct Operation {
    conduit::OperationId root = conduit::kNoOperation;
    conduit::OperationId local = conduit::kNoOperation;
    std::uint32_t pieces = 0;  // Portals operations in progress
    std::uint32_t sends = 0;   // operations whose bytes have not left
    std::uint32_t chunk = kNone;
    std::uint32_t large = kNone;
    void* copy_to = nullptr;  // of a get by a chunk
    Bytes bytes = 0;
  };

  // Take an event. Return true if it was of a transfer, or of a payload that has left.
  [[nodiscard]] bool take(const Event& event, conduit::Delivery& sink, unsigned& handed);
  [[nodiscard]] bool take_room(const void* memory, Bytes bytes, bool bounced);
  [[nodiscard]] bool collect(const void* memory, Bytes bytes, bool bounced);
  [[nodiscard]] std::uint16_t start(conduit::OperationId root, conduit::OperationId local, Bytes bytes, bool bounced);
  [[nodiscard]] Bytes offset_at(Rank peer, const void* remote, Bytes bytes) const;
  void sent(const Event& event, conduit::Delivery& sink, unsigned& handed);
  void end_piece(const Event& event, conduit::Delivery& sink, unsigned& handed);
  void end(std::uint16_t which);

  Portals& portals_;
  sim::ModelHost host_;
  SegmentBases& bases_;
  conduit::LocalCompletions& done_;
  unsigned most_tokens_;
  unsigned tokens_;
  EqHandle events_;
  BufferPool memory_;
  NumberPool chunks_;
  MdHandle chunks_md_;
  LocalMemory local_;
  std::deque<Operation> operations_;
  std::vector<std::uint16_t> free_;
  std::vector<LocalMemory::Piece> pieces_;  // of the transfer that begins
  BufferPool larges_;
  std::vector<MdHandle> large_mds_;  // of the buffers that were used
  bool news_ = false;
  conduit::ConduitCounters handed_;
};

}  // namespace gasmeter::networks::portals

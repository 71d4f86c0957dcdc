// Puts and gets of one rank, which Portals does alone, and what all operations of its conduit share: send tokens, one
// for each operation under way, the buffers that messages and small transfers are sent from, and the queue of their
// events (SAFE_EQ).
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
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::portals {

// Of each rank, where its segment begins: what ranks tell each other at startup.
using SegmentBases = std::vector<std::byte*>;

class Transfers {
 public:
  // Tokens that only replies take, as many as the largest needs.
  static constexpr unsigned kReplyTokens = 2;
  static constexpr std::uint32_t kNone = 0xffffffffU;

  // `done`: of puts whose source was copied.
  Transfers(Portals& portals, sim::ModelHost host, const PortalsOptions& options, SegmentBases& bases,
            conduit::LocalCompletions& done);

  // `messages`: whom payloads of Longs are told to; none: there are no such.
  void attach(std::span<std::byte> segment, EqHandle messages);
  [[nodiscard]] Status put(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root,
                           conduit::OperationId local);
  [[nodiscard]] Status get(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root);
  void forget(std::span<const std::byte> memory) { local_.forget(memory); }
  [[nodiscard]] Bytes most_transfer() const;

  // ---- for messages
  // A Long's, with a token that was taken. `large`: the buffer that it lies in, which is then given back; kNone: in
  // memory of the program, `local` tells when that may change. False: its memory has no room to be registered.
  [[nodiscard]] bool put_payload(Rank peer, Md md, void* to, const void* from, Bytes bytes, std::uint32_t lid,
                                 conduit::OperationId local, std::uint32_t large);
  [[nodiscard]] unsigned tokens() const { return tokens_; }
  void take_tokens(unsigned many) { tokens_ -= many; }
  void give_tokens(unsigned many) { tokens_ += many; }
  [[nodiscard]] NumberPool& chunks() { return chunks_; }
  [[nodiscard]] std::byte* chunk(std::uint32_t which) const { return memory_.at(which); }
  // Of all chunks: what requests and small transfers go from, and replies and small gets come to.
  [[nodiscard]] MdHandle chunks_md() const { return chunks_md_; }
  // Buffers of kMostLong; of those, one is kept for replies. kNone: there is no more.
  [[nodiscard]] std::uint32_t take_large(bool is_reply);
  [[nodiscard]] std::byte* large(std::uint32_t which) const { return larges_.at(which); }
  void give_large(std::uint32_t which) { larges_.give(which); }

  // ---- events
  [[nodiscard]] EqHandle events() const { return events_; }
  // Takes what there is, until `handed` is the budget; `other` is given what is of no transfer, and no payload that has
  // left. True: there may be more. What finds nothing the wait that called charges.
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
  // Whether an event has set something free since this was asked.
  [[nodiscard]] bool take_news();
  void tell_news() { news_ = true; }

  [[nodiscard]] Bytes reserved_bytes() const;
  void add_to(conduit::Counts& counts) const;

 private:
  static constexpr std::uint32_t kLarges = 9;
  static constexpr unsigned kEventsOfPoll = 12;  // protocol_constants: events handled per safe poll

  struct Operation {
    conduit::OperationId root = conduit::kNoOperation;
    conduit::OperationId local = conduit::kNoOperation;
    std::uint32_t pieces = 0;  // operations of Portals under way
    std::uint32_t sends = 0;   // of those, whose bytes have not left
    std::uint32_t chunk = kNone;
    std::uint32_t large = kNone;
    void* copy_to = nullptr;  // of a get by a chunk
    Bytes bytes = 0;
  };

  // True: it was of a transfer, or of a payload that has left.
  [[nodiscard]] bool take(const Event& event, conduit::Delivery& sink, unsigned& handed);
  [[nodiscard]] bool take_room(const void* memory, Bytes bytes, bool bounced);
  [[nodiscard]] bool collect(const void* memory, Bytes bytes, bool bounced);
  [[nodiscard]] std::uint16_t start(conduit::OperationId root, conduit::OperationId local, Bytes bytes, bool bounced);
  [[nodiscard]] Bytes offset_at(Rank peer, const void* there, Bytes bytes) const;
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
  std::vector<MdHandle> large_mds_;  // of those that were used
  bool news_ = false;
  conduit::ConduitCounters handed_;
};

}  // namespace gasmeter::networks::portals

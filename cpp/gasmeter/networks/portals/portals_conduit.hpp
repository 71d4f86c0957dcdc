// GASNet's portals-conduit. Puts and gets are Portals operations. An active message is a put into buffers that the
// receiver's table manages. Its answer goes into the buffer that the request was sent from. Credits keep the buffers
// from overflowing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/base/number_pool.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/conduit/holdings.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/networks/portals/am_wire.hpp"
#include "gasmeter/networks/portals/credits.hpp"
#include "gasmeter/networks/portals/request_buffers.hpp"
#include "gasmeter/networks/portals/transfers.hpp"

namespace gasmeter::networks::portals {

// Request buffers for a number of ranks.
struct RequestRoom {
  Bytes bytes_each = 0;
  std::uint32_t credits = 0;  // credits that the buffers can serve
};
// Throws UsageError for options that contradict each other, with the arithmetic.
[[nodiscard]] RequestRoom request_room(const PortalsOptions& options, std::uint32_t ranks);

// Conduit of one rank. The network outlives it.
class PortalsConduit final : public conduit::Conduit,
                             public conduit::CountsItself,
                             public conduit::ReservesMemory,
                             public conduit::TellsHoldings {
 public:
  PortalsConduit(Portals& portals, sim::ModelHost host, std::uint32_t ranks, const PortalsOptions& options,
                 SegmentBases& bases);

  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return capabilities_; }
  void attach(std::span<std::byte> segment) override { transfers_.attach(segment, requests_eq_); }
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
  void forget(std::span<const std::byte> memory) override { transfers_.forget(memory); }
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override;
  void add_to(conduit::Counts& counts) const override;
  [[nodiscard]] Bytes reserved_bytes() const override;
  [[nodiscard]] std::vector<conduit::Holding> holdings() const override { return portals_.holdings(); }

 private:
  static constexpr std::uint16_t kNone = 0xffff;
  static constexpr std::uint32_t kReplyChunks = 16;  // an estimate

  // Resources of a prepared message, kept in AmBuffer::slot.
  struct Taken {
    std::uint16_t chunk = 0;  // of the requests' chunks, or of the replies'
    std::uint16_t large = kNone;
    std::uint8_t tokens = 0;
    std::uint8_t credits = 0;
    bool apart = false;  // its payload has a put of its own
    bool unused = false;
  };
  // A message that has arrived, or its header.
  struct Message {
    AmBits bits;
    Rank source{};
    std::byte* data = nullptr;
    Bytes bytes = 0;
    std::uint64_t header_data = 0;
  };
  // A Long of which one put has arrived: its header, copied out of its buffer, or its payload.
  struct Half {
    Message message;
    std::uint32_t lid = 0;
    bool has_header = false;
    std::array<std::byte, payload_at(true, conduit::kMaxArguments)> header;
  };
  // The request whose handler runs.
  struct Handling {
    CreditByte says;
    bool replied = false;
  };

  // ---- sending
  [[nodiscard]] std::byte* chunk(const conduit::AmHeader& header, std::uint16_t which) const {
    return header.is_reply ? reply_memory_.at(which) : transfers_.chunk(which);
  }
  [[nodiscard]] Status take(const conduit::AmHeader& header, Taken& taken);
  void give(const conduit::AmHeader& header, const Taken& taken);
  [[nodiscard]] bool send_payload(const conduit::AmBuffer& buffer, const conduit::AmCommit& commit, const Taken& taken,
                                  std::uint32_t lid, conduit::OperationId local);
  void send_system(Rank to, bool is_answer, std::uint32_t credits);

  // ---- receiving
  // Take an event of SAFE_EQ that belongs to no transfer. Return true if a handler has run.
  [[nodiscard]] bool take_safe(conduit::Delivery& sink, const Event& event);
  unsigned take_requests(conduit::Delivery& sink, unsigned budget);
  void take_system();
  [[nodiscard]] bool may_reply() const;
  [[nodiscard]] bool take_message(conduit::Delivery& sink, const Event& event, std::byte* data);
  [[nodiscard]] bool take_payload(conduit::Delivery& sink, const Event& event, std::vector<Half>& halves);
  void run_request(conduit::Delivery& sink, const Message& message);
  void run_reply(conduit::Delivery& sink, const Message& message);
  void hand_over(conduit::Delivery& sink, const Message& message, bool is_request);
  [[noreturn]] void fail_caught(const Event& event) const;

  Portals& portals_;
  sim::ModelHost host_;
  std::uint32_t ranks_;
  RequestRoom room_;
  conduit::Capabilities capabilities_;
  conduit::LocalCompletions done_;
  Transfers transfers_;
  std::uint32_t request_events_;
  std::uint32_t system_events_;
  EqHandle requests_eq_;  // AM_EQ
  EqHandle system_eq_;
  RequestBuffers requests_;
  Credits credits_;
  BufferPool reply_memory_;  // RplSB
  MdHandle replies_md_;
  MdHandle bare_md_;  // of puts without payload, which have no events
  std::uint32_t lids_ = 0;
  std::vector<std::uint8_t> asked_;  // by chunk: credits that its request asked for
  std::vector<Half> halves_;         // of requests
  std::vector<Half> reply_halves_;
  Handling* handling_ = nullptr;
  bool more_ = false;  // a poll has stopped before events
  std::uint64_t implicit_replies_ = 0;
  conduit::ConduitCounters handed_;
};

}  // namespace gasmeter::networks::portals

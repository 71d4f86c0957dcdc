// Conduit over any network that matches messages to receives. The same code runs over a real MPI and a modelled one.
//
// Shorts, Mediums, small Longs and small puts are records. They are gathered per peer in a message while an earlier one
// may be on its way. Each larger payload travels apart, in a message of its own that the receiver places at its
// destination. Receives for messages with records are posted in advance. Credits per peer limit the number of messages
// on their way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gasmeter/base/number_pool.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/networks/mpi/remote_window.hpp"
#include "gasmeter/networks/mpi/two_sided_conduit.hpp"
#include "gasmeter/networks/mpi/wire.hpp"
#include "gasmeter/services/two_sided_service.hpp"

namespace gasmeter::networks::mpi {

// Limits of this implementation, whatever the network.
struct MpiSettings {
  Bytes max_medium = 64 * 1024;
  Bytes max_long = 4 * 1024 * 1024;  // a message's payload is copied; a put's is not
  Bytes apart_from = 8 * 1024;       // Longs, puts and gets of at least so many bytes travel apart
  Bytes least_gathered = 4 * 1024;   // messages are filled up to the network's eager limit, within these
  Bytes most_gathered = 16 * 1024;
  std::uint32_t window = 32;         // messages of each kind on their way to one peer
  std::uint32_t receives = 64;       // most receives posted for each kind
  std::uint32_t most_apart = 32;     // most payloads of each kind that travel apart
  std::uint32_t most_gets = 64;      // gets that travel apart
  std::uint32_t most_direct = 64;    // puts, gets and atomics without a message, until the next poll
  Bytes largest_direct = ~Bytes{0};  // larger puts and gets are messages, even if a window holds the memory
  bool direct_atomics = true;        // by a window that supports them
  // Receives that may wait for a poll without a result before they are posted again.
  std::uint32_t posted_late = 0;
};

// Return settings for a real MPI. Messages land in turn in the posted receives, so fewer receives stay in the caches.
[[nodiscard]] constexpr MpiSettings settings_of_real_mpi() {
  MpiSettings settings;
  settings.least_gathered = 1024;
  settings.window = 8;
  settings.posted_late = settings.window / 2;
  return settings;
}

template <class H>
class MpiConduit final : public TwoSidedConduit {
 public:
  // `window` holds memory whose puts and gets need no message; null: none. Throws UsageError if the network allows
  // too few sends at a time.
  MpiConduit(H host, services::TwoSidedService& service, Rank self, std::uint32_t ranks,
             const MpiSettings& settings = {}, RemoteWindow* window = nullptr);
  ~MpiConduit() override;

  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return capabilities_; }
  void attach(std::span<std::byte> segment) override { segment_.attach(segment); }
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override;
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message, conduit::OperationId local) override;
  void cancel(const conduit::AmBuffer& buffer) override;
  Status put(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root,
             conduit::OperationId local) override;
  Status get(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root) override;
  void forget(std::span<const std::byte> memory) override { service_.forget(memory); }
  [[nodiscard]] bool offloads(conduit::AtomicType type, conduit::AtomicOps ops) const override {
    return remote_ != nullptr && settings_.direct_atomics && remote_->does(type, ops);
  }
  Status atomic(Rank peer, const conduit::RemoteAtomic& atomic, conduit::OperationId root) override;
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override;

  void serve() override;
  [[nodiscard]] bool is_quiet() const override;

  // Counts of messages sent and of their contents.
  struct Counters {
    std::uint64_t messages = 0;
    std::uint64_t records = 0;
    std::uint64_t apart = 0;
    std::uint64_t credit_messages = 0;
    std::uint64_t direct = 0;         // puts, gets and atomics without a message
    conduit::ConduitCounters handed;  // operations that core handed to the conduit
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }
  void add_to(conduit::Counts& counts) const override;
  // Bytes of buffers for sends and receives, of copies of payloads that travel apart, and of the service.
  [[nodiscard]] Bytes reserved_bytes() const override;

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  static constexpr std::size_t kFlows = 2;

  // Messages of one kind to one peer.
  struct Stream {
    std::uint32_t open = kNone;  // number of the message that is being filled
    std::uint32_t bytes = 0;     // bytes in that message
    std::uint16_t credits = 0;   // messages that may still be sent
    std::uint16_t owed = 0;      // taken messages of the peer whose credits have not been returned
    bool reserved = false;       // a prepared record lies behind `bytes`
    bool listed = false;         // in the list of streams that poll() flushes
  };
  struct Peer {
    std::array<Stream, kFlows> streams;
  };
  // Arrived message of which some records may still have to be handed over.
  struct Arrival {
    std::uint32_t slot;
    Rank source;
    Bytes bytes;
    Bytes at;
  };
  // Payload that is on its way to this rank, apart.
  struct Incoming {
    RecordKind kind{};
    Flow flow{};
    HandlerIndex handler{};
    std::uint8_t arguments = 0;
    Rank source{};
    conduit::OperationId operation{};
    std::byte* destination = nullptr;
    Bytes size = 0;
    std::array<std::int32_t, conduit::kMaxArguments> argument_values{};
  };
  // Payload that is on its way from this rank, apart.
  struct Outgoing {
    conduit::OperationId local = conduit::kNoOperation;
    std::unique_ptr<std::byte[]> copy;
    Bytes capacity = 0;
  };
  // State of a message's number. It is free when the message has been sent and holds no prepared record.
  struct MessageState {
    bool under_way = false;
    bool held = false;
  };
  struct Done {
    Rank peer;
    std::uint32_t operation;
  };

  // Receives the events of a look at the network.
  class EventSink final : public services::TwoSidedService::Sink {
   public:
    explicit EventSink(MpiConduit& conduit) : conduit_(conduit) {}
    void sent(std::uint32_t number) override { conduit_.sent(number); }
    void received(std::uint32_t slot, Rank source, services::Tag tag, Bytes bytes) override {
      conduit_.received(slot, source, tag, bytes);
    }

   private:
    MpiConduit& conduit_;
  };

  // ---- sending
  [[nodiscard]] Stream& stream(Rank peer, Flow flow) {
    return peers_[index(peer)].streams[static_cast<std::size_t>(flow)];
  }
  [[nodiscard]] std::byte* message_memory(std::uint32_t number) const {
    return send_memory_.get() + number * message_bytes_;
  }
  [[nodiscard]] services::Tag message_tag(Flow flow) const {
    return flow == Flow::reply && !all_are_received_ ? kReplyTag : kMessageTag;
  }
  Status stalled();
  [[nodiscard]] bool make_room(Rank peer, Flow flow, RecordKind kind, unsigned arguments, Bytes size);
  // Write a record without its payload; return the payload's place.
  std::byte* append(Stream& s, const Record& record, std::span<const std::uint64_t> words,
                    std::span<const std::int32_t> arguments);
  void after_append(Rank peer, Flow flow);
  void list(Rank peer, Flow flow);
  [[nodiscard]] bool flush(Rank peer, Flow flow);
  [[nodiscard]] bool send_credits(Rank peer);
  void flush_listed();
  [[nodiscard]] bool start_apart(std::uint32_t number, Rank peer, services::Tag tag, const void* from, Bytes bytes);
  void sent(std::uint32_t number);
  void let_go(std::uint32_t number);
  [[nodiscard]] std::byte* copy_of(std::uint32_t number, Bytes bytes);
  [[nodiscard]] Outgoing& outgoing(std::uint32_t number) { return outgoing_[number - outgoing_first_]; }

  // ---- receiving
  [[nodiscard]] std::byte* slot_memory(std::uint32_t slot) const {
    return receive_memory_.get() + slot * message_bytes_;
  }
  void received(std::uint32_t slot, Rank source, services::Tag tag, Bytes bytes);
  unsigned hand_over(conduit::Delivery& sink, Flow flow, unsigned budget);
  [[nodiscard]] bool take_record(conduit::Delivery& sink, Flow flow, Arrival& arrival, unsigned& handed);
  [[nodiscard]] bool expect_apart(Flow flow, Rank source, const Record& record, const std::byte* body);
  [[nodiscard]] bool answer_get(Rank source, const Record& record, const std::byte* body);
  [[nodiscard]] bool say_done(Rank peer, std::uint32_t operation);
  unsigned hand_over_apart(conduit::Delivery& sink, Flow flow, unsigned budget);
  void push_done();
  // Puts and gets by the window are complete once it is flushed.
  [[nodiscard]] bool is_direct(Rank peer, const void* address, Bytes bytes) const;
  void add_unflushed(conduit::OperationId operation) {
    if (operation != conduit::kNoOperation) unflushed_.push_back(operation);
  }
  void flush_window();
  [[nodiscard]] bool has_work() const;
  void post_again();
  [[nodiscard]] Incoming& incoming(std::uint32_t slot) { return incoming_[slot - incoming_first_]; }
  void take_credits(Rank source, const MessageHeader& header);

  H host_;
  services::TwoSidedService& service_;
  RemoteWindow* remote_;
  MpiSettings settings_;
  conduit::Capabilities capabilities_;
  OwnSegment segment_;
  Bytes message_bytes_ = 0;  // size of the largest message with records
  Bytes gathered_ = 0;       // size up to which messages are filled
  std::uint32_t window_ = 0;
  std::vector<Peer> peers_;
  std::array<NumberPool, kFlows> messages_;  // numbers of sends
  std::array<NumberPool, kFlows> apart_;
  std::array<NumberPool, kFlows> incoming_slots_;
  NumberPool get_slots_;
  AlignedMemory send_memory_;
  AlignedMemory receive_memory_;
  std::uint32_t receives_ = 0;        // receives posted for each kind: slots 0.., then those of the other kind
  std::vector<MessageState> states_;  // by number
  std::vector<Outgoing> outgoing_;    // by number, from outgoing_first_ on
  std::vector<Incoming> incoming_;    // by slot, from incoming_first_ on
  std::uint32_t outgoing_first_ = 0;
  std::uint32_t incoming_first_ = 0;
  bool all_are_received_ = true;  // every message that may be on its way has a receive
  std::array<std::deque<Arrival>, kFlows> arrivals_;
  // Slots whose records have all been handed over, to be posted again.
  std::vector<std::uint32_t> finished_;
  std::array<std::deque<std::uint32_t>, kFlows> landed_;  // slots whose Long waits to be handed over
  std::deque<Done> done_;                                 // puts of peers that have landed and were not acknowledged
  struct Listed {
    Rank peer;
    Flow flow;
  };
  std::vector<Listed> listed_;
  std::vector<Listed> listed_before_;
  conduit::LocalCompletions completions_;
  std::vector<conduit::OperationId> unflushed_;
  std::uint32_t direct_ = 0;     // puts, gets and atomics since the last flush
  std::uint32_t under_way_ = 0;  // sends
  unsigned depth_ = 0;
  bool news_ = false;  // a resource that was refused is free now
  Counters counters_;
};

}  // namespace gasmeter::networks::mpi

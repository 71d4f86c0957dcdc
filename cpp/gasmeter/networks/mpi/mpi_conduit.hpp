// The conduit over any network that matches messages to receives: exactly the same over a real MPI and over a modelled
// one.
//
// Small things (Shorts, Mediums, Longs and puts of little data) are records, gathered per peer in a message while an
// earlier one is not known to have been taken. What is large travels apart, in a message of its own that the receiver
// places where it belongs. Receives for messages with records are posted in advance; credits per peer bound how many
// messages may be on their way.
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

// Numbers of this implementation, not of a network.
struct MpiSettings {
  Bytes max_medium = 64 * 1024;
  Bytes max_long = 4 * 1024 * 1024;  // a message's payload is copied; a put's is not
  Bytes apart_from = 8 * 1024;       // Longs, puts and gets of so many bytes travel apart
  Bytes least_gathered = 4 * 1024;   // messages are filled up to the network's eager limit, but within these
  Bytes most_gathered = 16 * 1024;
  std::uint32_t window = 32;         // messages on their way to one peer, of each kind
  std::uint32_t receives = 64;       // posted at most, of each kind
  std::uint32_t most_apart = 32;     // of each kind
  std::uint32_t most_gets = 64;      // that travel apart
  std::uint32_t most_direct = 64;    // puts, gets and atomics without a message, until the next poll
  Bytes largest_direct = ~Bytes{0};  // larger puts and gets are messages, whatever a window holds
  bool direct_atomics = true;        // by a window, where there is one that does them
  std::uint32_t posted_late = 0;  // receives that may wait for a poll that finds nothing, until they are posted again
};

// Messages land in turn where receives were posted for them: the fewer, the more of that stays in the caches.
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
  // `window`: where puts and gets need no message; null: nowhere. Throws UsageError if the network allows too few sends
  // at a time.
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

  // Messages sent, and what was in them.
  struct Counters {
    std::uint64_t messages = 0;
    std::uint64_t records = 0;
    std::uint64_t apart = 0;
    std::uint64_t credit_messages = 0;
    std::uint64_t direct = 0;         // puts, gets and atomics without a message
    conduit::ConduitCounters handed;  // what core handed the conduit
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }
  void add_to(conduit::Counts& counts) const override;
  // What it sends from and receives into, copies of what travels apart, and the service's.
  [[nodiscard]] Bytes reserved_bytes() const override;

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  static constexpr std::size_t kFlows = 2;

  // The messages of one kind to one peer.
  struct Stream {
    std::uint32_t open = kNone;  // number of the message that is being filled
    std::uint32_t bytes = 0;     // ... and how far it is
    std::uint16_t credits = 0;   // messages that may still be sent
    std::uint16_t owed = 0;      // messages of the peer that were taken, of which it does not know yet
    bool reserved = false;       // a prepared record lies behind `bytes`
    bool listed = false;         // among those that poll() looks at
  };
  struct Peer {
    std::array<Stream, kFlows> streams;
  };
  // An arrived message of which some records may still have to be handed over.
  struct Arrival {
    std::uint32_t slot;
    Rank source;
    Bytes bytes;
    Bytes at;
  };
  // A payload that is on its way to us, apart.
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
  // A payload on its way from us.
  struct Outgoing {
    conduit::OperationId local = conduit::kNoOperation;
    std::unique_ptr<std::byte[]> copy;
    Bytes capacity = 0;
  };
  // A number of a message with records is free when the message has been sent and no prepared record lies in it.
  struct MessageState {
    bool under_way = false;
    bool held = false;
  };
  struct Done {
    Rank peer;
    std::uint32_t operation;
  };

  // What the network found while it was asked.
  class Found final : public services::TwoSidedService::Sink {
   public:
    explicit Found(MpiConduit& conduit) : conduit_(conduit) {}
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
  // Writes a record but for its payload and returns where that belongs.
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
  // Of a put or get that the window was asked for: complete once it is flushed.
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
  Bytes message_bytes_ = 0;  // of the largest message with records
  Bytes gathered_ = 0;       // up to which messages are filled
  std::uint32_t window_ = 0;
  std::vector<Peer> peers_;
  std::array<NumberPool, kFlows> messages_;  // numbers of sends
  std::array<NumberPool, kFlows> apart_;
  std::array<NumberPool, kFlows> incoming_slots_;
  NumberPool get_slots_;
  AlignedMemory send_memory_;
  AlignedMemory receive_memory_;
  std::uint32_t receives_ = 0;        // posted for each kind: slots 0.., then those of the other kind
  std::vector<MessageState> states_;  // by number
  std::vector<Outgoing> outgoing_;    // by number, from outgoing_first_ on
  std::vector<Incoming> incoming_;    // by slot, from incoming_first_ on
  std::uint32_t outgoing_first_ = 0;
  std::uint32_t incoming_first_ = 0;
  bool all_are_received_ = true;  // there is a receive for every message that may be on its way
  std::array<std::deque<Arrival>, kFlows> arrivals_;
  std::vector<std::uint32_t> finished_;                   // slots of which all has been handed over: to be posted again
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
  bool news_ = false;  // something that was refused may be had now
  Counters counters_;
};

}  // namespace gasmeter::networks::mpi

// GASNet's Core API over VELO and RMA. The conduit has try hooks and, if option put=rma asks for them, puts. Core's
// reference implementations do the rest.
//
// VELO carries Shorts, Mediums, and the header and arguments of a Long. A put of the RMA unit carries the payload of a
// Long. Messages of several packets are put together per source, since packets of different sources interleave.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/networks/extoll/am_options.hpp"
#include "gasmeter/networks/extoll/extoll_port.hpp"
#include "gasmeter/networks/extoll/message_store.hpp"
#include "gasmeter/networks/extoll/wire.hpp"

namespace gasmeter::networks::extoll {

class ExtollNetwork;

// Conduit of one rank. The network outlives it. No other object uses its port.
class ExtollConduit final : public conduit::Conduit, public conduit::ReservesMemory {
 public:
  static constexpr unsigned kBounceBuffers = 8;  // buffers that Longs, and puts from other memory, are sent from
  static constexpr unsigned kPutsUnderWay = 64;  // puts that may be incomplete at a time

  // Throws UsageError for a card whose packets do not hold a header and two arguments.
  ExtollConduit(ExtollNetwork& network, sim::ModelHost host, Rank rank, const AmOptions& options = {});

  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return capabilities_; }
  void attach(std::span<std::byte> segment) override;
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override;
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message, conduit::OperationId local) override;
  void cancel(const conduit::AmBuffer& buffer) override;
  Status put(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root,
             conduit::OperationId local) override;
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override;
  [[nodiscard]] bool polls_in_vain() override;
  // A prepared message counts from its commit on.
  [[nodiscard]] Bytes reserved_bytes() const override;

  // For tests: the most messages that were partly received at a time, and the number of ranks with a Source.
  [[nodiscard]] std::size_t most_partial() const { return most_partial_; }
  [[nodiscard]] std::size_t sources() const { return sources_.size(); }

 private:
  static constexpr Bytes kReadBack = 8;

  // A message of which the card has not taken all packets yet.
  struct Outgoing {
    Rank to;
    PacketCutter cutter;
    Message* message;  // memory that holds its arguments and data
  };
  // Requests between this rank and a peer, if the number of outstanding requests is limited.
  struct Flow {
    unsigned under_way = 0;  // requests to the peer that the peer has not returned credits for
    std::uint32_t owed = 0;  // handled requests of the peer that this rank owes credits for
  };
  // Receive state of a rank that has sent a Long, or a message in several packets.
  struct Source {
    Message* partial = nullptr;
    MessageQueue longs;   // complete but for the payload
    MessageQueue landed;  // payloads (destination, size) whose header has not arrived
  };

  // ---- sending
  [[nodiscard]] bool is_near(Rank rank) const;
  Status prepare_near(conduit::AmBuffer& out);
  void commit_near(const conduit::AmBuffer& buffer, const conduit::AmCommit& commit, const WireHeader& header);
  // `waits`: the message is kept for later polls, and no packet leaves now.
  void commit_in_parts(const conduit::AmBuffer& buffer, const conduit::AmCommit& commit, const WireHeader& header,
                       const std::byte* data, bool waits);
  void start_put(const conduit::AmBuffer& buffer, const conduit::AmCommit& commit);
  static void command(Status taken);
  void send_whole(Rank to, const WireHeader& header, std::span<const std::int32_t> arguments, const std::byte* data);
  bool send(Rank to, PacketCutter& cutter);
  bool push_outbox();
  void wait_for_room(unsigned packets);
  [[nodiscard]] bool is_limited(Rank peer, bool is_reply) const;
  void return_credits();

  // ---- receiving
  void take_notification();
  void sent_from(const std::byte* address);
  void put_done(std::uint32_t which);
  void take_credits(const VeloPacket& packet);
  void handled(Rank source);
  void landed(Rank source, void* destination, Bytes size);
  bool take_near(Message& message, conduit::Delivery& sink, conduit::PollFilter filter);
  bool take_packet(const VeloPacket& packet, conduit::Delivery* sink, conduit::PollFilter filter);
  void deliver_in_place(conduit::Delivery& sink, const VeloPacket& packet, const WireHeader& header);
  void deliver_medium(conduit::Delivery& sink, const VeloPacket& packet, const WireHeader& header);
  void append(const VeloPacket& packet);
  void keep(Message* message);
  [[nodiscard]] Message* next_ready(conduit::PollFilter filter);
  void deliver(conduit::Delivery& sink, Message& message);
  void hand_over(conduit::Delivery& sink, const WireHeader& header, Rank source, const std::int32_t* arguments,
                 void* payload);

  // Members that every message and every poll reads stand together in few cache lines: thousands of ranks share the
  // caches.
  sim::ModelHost host_;
  ExtollPort& port_;
  MessageStore& store_;
  NearBoxes& near_;
  AmOptions options_;
  bool locked_ = false;  // this poll has taken the AM lock
  bool news_ = false;    // a call that was refused may succeed now
  Bytes per_packet_;
  std::vector<Outgoing> outbox_;  // from first_out_ on; empty if no message waits
  conduit::LocalCompletions done_;
  std::vector<Rank> creditors_;  // peers that are owed enough credits for a packet
  MessageQueue ready_requests_;
  MessageQueue ready_replies_;
  // Members that are read less often.
  conduit::Capabilities capabilities_;
  std::size_t first_out_ = 0;
  BufferPool bounce_{"extoll", kBounceBuffers, kMostLong};
  BufferPool read_back_{"extoll", kPutsUnderWay, kReadBack};  // receives the word that is read back behind each put
  std::array<conduit::OperationId, kPutsUnderWay> roots_{};   // the puts of read_back_, by number
  // Local completions of puts from the program's memory, in the order in which the card reads it.
  std::deque<conduit::OperationId> leaves_;
  std::unordered_map<std::uint32_t, Source> sources_;
  std::unordered_map<std::uint32_t, Flow> flows_;
  std::uint32_t partial_ = 0;
  std::uint32_t most_partial_ = 0;
};

}  // namespace gasmeter::networks::extoll

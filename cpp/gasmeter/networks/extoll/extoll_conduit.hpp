// GASNet's Core API over VELO and RMA: try hooks and, if asked for, puts; core's reference implementations do the rest.
//
// Shorts and Mediums go through VELO, and so do header and arguments of a Long, whose payload a put of the RMA unit
// carries. What arrives in several packets is put together per source, since packets of different sources interleave.
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

// One rank's. Lives no longer than the network. Has the port to itself.
class ExtollConduit final : public conduit::Conduit, public conduit::ReservesMemory {
 public:
  static constexpr unsigned kBounceBuffers = 8;  // that Longs are sent from, and puts whose memory may not be
  static constexpr unsigned kPutsUnderWay = 64;  // that are not complete

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
  // Messages that are prepared count when they are sent.
  [[nodiscard]] Bytes reserved_bytes() const override;

  // For tests: messages of which some packets had come, at a time; ranks for which something is kept.
  [[nodiscard]] std::size_t most_partial() const { return most_partial_; }
  [[nodiscard]] std::size_t sources() const { return sources_.size(); }

 private:
  static constexpr Bytes kReadBack = 8;

  // A message of which the card has not taken all packets yet.
  struct Outgoing {
    Rank to;
    PacketCutter cutter;
    Message* message;  // where its parts lie
  };
  // Between this rank and another, if the number of outstanding requests is limited.
  struct Flow {
    unsigned under_way = 0;  // requests to it that it has not told to have handled
    std::uint32_t owed = 0;  // requests of it that were handled and that it has not been told of
  };
  // Of a rank that has sent several packets of a message, or a Long.
  struct Source {
    Message* partial = nullptr;
    MessageQueue longs;   // complete but for their payload
    MessageQueue landed;  // payloads (destination, size) whose header has not come
  };

  // ---- sending
  [[nodiscard]] bool is_near(Rank rank) const;
  Status prepare_near(conduit::AmBuffer& out);
  void commit_near(const conduit::AmBuffer& buffer, const conduit::AmCommit& commit, const WireHeader& header);
  // `waits`: nothing is sent yet.
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

  // What every message and every poll looks at, in few lines: thousands of ranks share the caches.
  sim::ModelHost host_;
  ExtollPort& port_;
  MessageStore& store_;
  NearBoxes& near_;
  AmOptions options_;
  bool locked_ = false;  // for what this poll finds
  bool news_ = false;    // something that was refused may be had now
  Bytes per_packet_;
  std::vector<Outgoing> outbox_;  // from first_out_ on; empty where none is left
  conduit::LocalCompletions done_;
  std::vector<Rank> creditors_;  // are owed so much that they have to be told
  MessageQueue ready_requests_;
  MessageQueue ready_replies_;
  // The rest.
  conduit::Capabilities capabilities_;
  std::size_t first_out_ = 0;
  BufferPool bounce_{"extoll", kBounceBuffers, kMostLong};
  BufferPool read_back_{"extoll", kPutsUnderWay, kReadBack};  // where the word that is read behind each put goes
  std::array<conduit::OperationId, kPutsUnderWay> roots_{};   // of those puts
  std::deque<conduit::OperationId> leaves_;  // of puts from the program's memory, in the order in which that is read
  std::unordered_map<std::uint32_t, Source> sources_;
  std::unordered_map<std::uint32_t, Flow> flows_;
  std::uint32_t partial_ = 0;
  std::uint32_t most_partial_ = 0;
};

}  // namespace gasmeter::networks::extoll

// Classic scheme of GASNet's AMMPI over the same matched messages. Papers call it the MPI conduit.
//
// - Each active message is a message of the network, sent from one of the library's buffers and received into another.
// - Requests and replies each have a tag, and receives from any rank that are posted in advance.
// - A request takes one of its sender's tokens for the receiver. Tokens come back in the head of the next message the
//   other way. If a handler did not reply and more than three quarters are owed, an empty reply returns them.
// - Requests poll before they leave. A poll hands over ten messages at most.
// - Puts and gets are active messages (core's reference implementation).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "gasmeter/base/number_pool.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/networks/mpi/ammpi_message.hpp"
#include "gasmeter/networks/mpi/two_sided_conduit.hpp"

namespace gasmeter::networks::mpi {

template <class H>
class AmmpiConduit final : public TwoSidedConduit {
 public:
  // `service` outlives the conduit. Throws UsageError for a depth of 0 or more than 64, or if the network allows too
  // few sends at a time.
  AmmpiConduit(H host, services::TwoSidedService& service, std::uint32_t ranks, std::uint32_t depth = ammpi::kDepth);

  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return capabilities_; }
  void attach(std::span<std::byte> segment) override { segment_.attach(segment); }
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override;
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message, conduit::OperationId local) override;
  void cancel(const conduit::AmBuffer& buffer) override;
  void forget(std::span<const std::byte> memory) override { service_.forget(memory); }
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override;

  void serve() override;
  [[nodiscard]] bool is_quiet() const override { return under_way_ == 0 && owing_.empty(); }

  struct Counters {
    std::uint64_t messages = 0;
    std::uint64_t empty_replies = 0;
    conduit::ConduitCounters handed;  // operations that core handed to the conduit
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }
  void add_to(conduit::Counts& counts) const override;
  // Bytes of buffers for sends and receives, and of the service.
  [[nodiscard]] Bytes reserved_bytes() const override;

 private:
  static constexpr std::size_t kFlows = 2;
  enum class Room : std::uint8_t { small, large };

  struct Peer {
    std::uint32_t tokens = 0;  // requests that may still be sent
    std::uint32_t owed = 0;    // handed-over requests of the peer whose tokens have not been returned
    bool is_listed = false;    // the list of owed empty replies has this peer
  };
  struct Arrival {
    std::uint32_t slot;
    Rank source;
  };

  // Receives the events of a look at the network.
  class EventSink final : public services::TwoSidedService::Sink {
   public:
    explicit EventSink(AmmpiConduit& conduit) : conduit_(conduit) {}
    void sent(std::uint32_t number) override { conduit_.sent(number); }
    void received(std::uint32_t slot, Rank source, services::Tag /*tag*/, Bytes /*bytes*/) override {
      conduit_.received(slot, source);
    }

   private:
    AmmpiConduit& conduit_;
  };

  // ---- sending
  Status stalled();
  [[nodiscard]] NumberPool& sends(Flow flow, Room room);
  [[nodiscard]] NumberPool& sends_of(std::uint32_t number);
  [[nodiscard]] std::byte* buffer(std::uint32_t number) const;
  [[nodiscard]] bool send(std::uint32_t number, Rank to, ammpi::MessageHead head);
  [[nodiscard]] bool send_empty_reply(Rank to);
  // List a peer that gets an empty reply.
  void owe(Rank to);
  void give_what_is_owed();
  void sent(std::uint32_t number);

  // ---- receiving
  [[nodiscard]] std::byte* slot_memory(std::uint32_t slot) const { return receive_memory_.get() + slot * large_; }
  [[nodiscard]] Flow flow_of_slot(std::uint32_t slot) const { return slot < receives_ ? Flow::request : Flow::reply; }
  unsigned look();
  void received(std::uint32_t slot, Rank source);
  unsigned hand_over(conduit::Delivery& sink, Flow flow, unsigned most);
  void hand_over(conduit::Delivery& sink, Flow flow, const Arrival& arrival);
  void post_again(Flow flow, std::size_t most_late);

  H host_;
  services::TwoSidedService& service_;
  std::uint32_t depth_;
  std::uint32_t slack_;
  std::uint32_t receives_;
  conduit::Capabilities capabilities_;
  OwnSegment segment_;
  Bytes small_;
  Bytes large_;
  std::vector<Peer> peers_;
  std::array<NumberPool, 2 * kFlows> sends_;  // small requests, large ones, small replies, large ones
  AlignedMemory small_memory_;
  AlignedMemory large_memory_;
  AlignedMemory receive_memory_;
  std::array<std::deque<Arrival>, kFlows> arrivals_;
  std::array<std::vector<std::uint32_t>, kFlows> finished_;  // slots whose handlers have returned, to be posted again
  std::vector<Rank> owing_;
  std::vector<Rank> owing_before_;
  conduit::LocalCompletions completions_;
  std::uint32_t under_way_ = 0;  // sends
  bool news_ = false;            // a resource that was refused is free now
  Counters counters_;
};

}  // namespace gasmeter::networks::mpi

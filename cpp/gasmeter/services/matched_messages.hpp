// The modelled provider of two-sided messages: tag matching, eager and rendezvous, over any device that carries
// messages and puts.
//
// A message up to the eager limit is sent at once, and waits at the receiver if no receive matches it. A longer
// message first sends a request. When a receive is found, the sender is cleared and puts the payload into the
// receive's memory.
//
// If the device accesses that memory itself, it is pinned from the first such message until the receive's next post().
// A sender pins each such message while it waits to be cleared. Memory is registered anew for each use, or is kept in
// a cache over modelled addresses (message_memory.hpp). Either way the cost depends on the program and not on the
// place of its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/charges.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/services/match_lists.hpp"
#include "gasmeter/services/message_device.hpp"
#include "gasmeter/services/message_memory.hpp"
#include "gasmeter/services/node_messages.hpp"
#include "gasmeter/services/two_sided_service.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::services {

struct MatchingParameters {
  Bytes eager = 1024;  // payload of the longest message that is sent without a request
};

// Return the keys "mpi.*" that a job has not used. `matches` tells whether the job has two-sided messages at all.
[[nodiscard]] std::vector<std::string> unused_matching_keys(const conduit::Charges& charges, bool matches);

struct MatchingCounters {
  std::uint64_t eager = 0;         // messages received
  std::uint64_t rendezvous = 0;    // messages received
  std::uint64_t looked_at = 0;     // elements of lists inspected
  std::uint64_t most_waiting = 0;  // most unexpected messages at a time
};

// The service of one rank. The devices must outlive it, and no other object uses them.
class MatchedMessages final : public TwoSidedService, private MessageDevice::Sink {
 public:
  // `near` carries messages to ranks of the same node; null: the network carries them. `is_cached` keeps memory
  // registered.
  MatchedMessages(sim::ModelHost host, MessageDevice& network, NodeMessages* near, const MatchingParameters& parameters,
                  bool is_cached = false);

  [[nodiscard]] const TwoSidedLimits& limits() const override { return limits_; }
  [[nodiscard]] const MatchingCounters& counters() const { return counters_; }

  void post(std::uint32_t slot, std::span<std::byte> buffer, std::optional<Rank> source,
            std::optional<Tag> tag) override;
  void restart(std::uint32_t slot) override;
  [[nodiscard]] SendState send(std::uint32_t number, Rank to, Tag tag, std::span<const std::byte> bytes) override;
  void forget(std::span<const std::byte> memory) override { memory_.forget(memory); }
  unsigned test_some(TwoSidedService::Sink& sink, unsigned budget) override;
  [[nodiscard]] bool has_news() const override { return !done_.empty(); }
  // Return the memory of unexpected messages and of the devices.
  [[nodiscard]] Bytes reserved_bytes() const override;

 private:
  struct Receive {
    std::span<std::byte> buffer;
    std::optional<Rank> source;
    std::optional<Tag> tag;
    bool pinned = false;
    RegionNumber region = kNoRegion;
    // Source, tag and size of the matched message.
    Rank from{};
    Tag with{};
    std::uint32_t bytes = 0;
  };
  // A message that arrived before its receive was posted.
  struct Unexpected {
    Rank source{};
    MessageHead head;
    std::vector<std::byte> payload;
    bool complete = false;
    std::optional<std::uint32_t> claimed;  // receive that was posted while the message arrived
  };
  // A message to be put when it is cleared; empty otherwise.
  struct Asking {
    std::span<std::byte> bytes;
    bool pinned = false;
    RegionNumber region = kNoRegion;
  };
  struct Done {
    std::uint32_t which;
    bool is_send;
  };

  Landing begun(Rank source, const MessageHead& head) override;
  void ended(Rank source, std::uint32_t which) override;
  void sent(std::uint32_t number) override;
  void landed(Rank source, std::uint32_t receive) override;

  [[nodiscard]] bool is_near(Rank rank) const { return near_ != nullptr && near_->reaches(rank); }
  [[nodiscard]] MessageDevice& device_to(Rank rank) { return is_near(rank) ? *near_ : network_; }
  void search(const MatchLists::Found& match);
  void matched(std::uint32_t slot, Rank source, const MessageHead& head);
  void hand_over(std::uint32_t slot, std::uint32_t message);
  void take_unexpected();

  sim::ModelHost host_;
  MessageDevice& network_;
  NodeMessages* near_;
  MessageMemory memory_;  // memory that the network accesses
  TwoSidedLimits limits_;
  MatchingCounters counters_;
  MatchLists lists_;
  std::vector<Receive> receives_;      // by slot
  std::vector<Asking> asking_;         // by number of the send
  std::deque<Unexpected> unexpected_;  // by number
  std::vector<std::uint32_t> spare_;   // unused numbers of unexpected_
  std::deque<Done> done_;
};

}  // namespace gasmeter::services

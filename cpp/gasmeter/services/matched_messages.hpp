// The modelled provider of two-sided messages: tag matching, eager and rendezvous, over any device that carries
// messages and puts.
//
// Up to the eager limit a message travels at once and waits at its receiver if nobody has asked for it; a longer one
// asks, is cleared when its receive has been found, and is put into the receive's memory. Where the device reaches that
// by itself, it is pinned from the first such message to the receive's next post(); a sender pins each such message,
// while it waits to be cleared.
// Each is registered anew then, or what has been registered once is found in a cache over addresses of the model
// (message_memory.hpp): either way what it costs depends on what a program does and not on where its memory lies.
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
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/services/match_lists.hpp"
#include "gasmeter/services/message_device.hpp"
#include "gasmeter/services/message_memory.hpp"
#include "gasmeter/services/node_messages.hpp"
#include "gasmeter/services/two_sided_service.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::services {

struct MatchingParameters {
  Bytes eager = 1024;  // payload of the longest message that does not ask
};

// Takes all keys "mpi.*": the eager limit, and the prices of a message at one side (software) and of an element that
// matching looks at.
[[nodiscard]] MatchingParameters matching_parameters(conduit::MachineValues& machine, conduit::HostPrices& prices);

// Of those: the keys that a job has made no use of. `matches`: whether it has two-sided messages at all.
[[nodiscard]] std::vector<std::string> unused_matching_keys(const conduit::Charges& charges, bool matches);

struct MatchingCounters {
  std::uint64_t eager = 0;         // messages received
  std::uint64_t rendezvous = 0;    // likewise
  std::uint64_t looked_at = 0;     // elements of lists
  std::uint64_t most_waiting = 0;  // unexpected messages at a time
};

// One rank's. The devices outlive it and are used by nobody else.
class MatchedMessages final : public TwoSidedService, private MessageDevice::Sink {
 public:
  // `near`: carries what is for ranks of the own node; null: the network does, too. `is_cached`: memory that was
  // registered stays so.
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
  // Messages that nobody has asked for, and the devices'.
  [[nodiscard]] Bytes reserved_bytes() const override;

 private:
  struct Receive {
    std::span<std::byte> buffer;
    std::optional<Rank> source;
    std::optional<Tag> tag;
    bool pinned = false;
    RegionNumber region = kNoRegion;
    // What it has matched.
    Rank from{};
    Tag with{};
    std::uint32_t bytes = 0;
  };
  // Of a message that nobody has asked for.
  struct Unexpected {
    Rank source{};
    MessageHead head;
    std::vector<std::byte> payload;
    bool complete = false;
    std::optional<std::uint32_t> claimed;  // by a receive that was posted while it arrived
  };
  // What is put when it is cleared; else nothing.
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
  void search(const MatchLists::Found& found);
  void matched(std::uint32_t slot, Rank source, const MessageHead& head);
  void hand_over(std::uint32_t slot, std::uint32_t message);
  void take_unexpected();

  sim::ModelHost host_;
  MessageDevice& network_;
  NodeMessages* near_;
  MessageMemory memory_;  // that the network reaches
  TwoSidedLimits limits_;
  MatchingCounters counters_;
  MatchLists lists_;
  std::vector<Receive> receives_;      // by slot
  std::vector<Asking> asking_;         // by number
  std::deque<Unexpected> unexpected_;  // by number
  std::vector<std::uint32_t> spare_;   // numbers of unexpected_
  std::deque<Done> done_;
};

}  // namespace gasmeter::services

// Messages and puts of the two-sided layer as ScaMPI has them on SCI. The device only uses stores. Each rank sets
// memory aside for its peers at the start, and the peers map it. Stores go there, never into a program's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "gasmeter/networks/sci/sca_mpi_memory.hpp"
#include "gasmeter/networks/sci/sisci.hpp"
#include "gasmeter/services/message_device.hpp"

namespace gasmeter::networks::sci {

// Message device of one rank. No other object uses the card's SISCI of that rank.
class ScaMpi final : public services::MessageDevice {
 public:
  // `checks`: the device checks the stored bytes of a message before it stores the envelope. Throws UsageError for
  // sizes that cannot carry a message.
  ScaMpi(Sisci& sisci, sim::ModelHost host, std::uint32_t ranks, const ScaMpiSizes& sizes, bool checks = false);

  bool send(Rank to, const services::MessageHead& head, std::span<const std::byte> payload,
            std::uint32_t number) override;
  [[nodiscard]] bool reaches_programs() const override { return false; }
  [[nodiscard]] services::PutWindow open(Rank from, std::span<std::byte> memory, std::uint32_t receive) override;
  void put(Rank to, const services::PutWindow& window, std::span<const std::byte> payload,
           std::uint32_t number) override;
  bool progress(Sink& sink) override;
  [[nodiscard]] Bytes reserved_bytes() const override { return memory_.size(); }

 private:
  enum SegmentId : std::uint32_t { kMemory };

  struct Message {
    services::MessageHead head;
    std::span<const std::byte> payload;
    std::uint32_t number = kUntold;
  };
  struct Put {
    std::span<const std::byte> left;
    std::uint32_t number = kUntold;
  };
  // Memory that the pieces of a put go into, one after the other.
  struct Window {
    std::span<std::byte> left;
    std::uint32_t receive = 0;
  };
  struct Peer {
    RemoteSegment memory;
    Freed taken;                   // resources at the peer that this rank has taken
    Freed given;                   // resources that the peer has given back, as far as this rank has seen
    std::deque<Message> messages;  // messages that wait for room
    std::deque<Put> puts;
    Freed emptied;  // resources for the peer that this rank has emptied
    Freed told;     // emptied resources that the peer has been told of
    std::deque<Window> windows;

    [[nodiscard]] bool waits() const { return !messages.empty() || !puts.empty(); }
  };

  [[nodiscard]] Peer& peer(Rank rank);
  void wait_with(Peer& to, Rank rank);
  [[nodiscard]] bool take_room(Peer& to, Rank rank, const Freed& needed);

  [[nodiscard]] bool store_waiting();
  [[nodiscard]] bool store_next(Peer& to, Rank rank);
  [[nodiscard]] bool store_message(Peer& to, Rank rank, const Message& message);
  [[nodiscard]] bool store_piece(Peer& to, Rank rank, Put& put);
  void store_inlined(const Peer& to, std::uint32_t entry, std::span<const std::byte> payload);
  void store_lines(const Peer& to, Bytes offset, std::span<const std::byte> bytes);
  void store_envelope(const Peer& to, Envelope& envelope, std::uint32_t entry, sim::Step step);

  void take(Rank source, Sink& sink);
  void take_message(Peer& from, Rank source, const Envelope& envelope, Sink& sink);
  void take_piece(Peer& from, Rank source, Sink& sink);
  [[nodiscard]] const std::byte* inlined(Rank source, std::uint32_t entry, Bytes bytes);
  void give_back(Peer& from, Rank source, const Freed& emptied);

  Sisci& sisci_;
  sim::ModelHost host_;
  std::uint32_t ranks_;
  ScaMpiLayout layout_;
  bool checks_;
  ScaMpiMemory memory_;
  std::unordered_map<std::uint32_t, Peer> peers_;  // peers that have sent to this rank, or that it has sent to
  std::vector<Rank> waiting_;                      // peers that wait for room, in turn
  std::deque<std::uint32_t> gone_;                 // numbers of sent messages that are not reported yet
  Rank look_at_{};                                 // the next scan of the channels begins here
  std::vector<std::byte> joined_;
};

}  // namespace gasmeter::networks::sci

// Messages and puts of the two-sided layer on uGNI: puts with flag into mailboxes, and block transfers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/base/number_pool.hpp"
#include "gasmeter/networks/aries/domain.hpp"
#include "gasmeter/services/message_device.hpp"

namespace gasmeter::networks::aries {

// Limits of the adaptor, which are estimates.
struct AriesMessageLimits {
  unsigned mailbox = 16;  // messages of a rank that a peer has not reported as read
  unsigned sends = 512;   // messages of a rank that all peers together have not reported as read
  unsigned puts = 64;     // block transfers of a rank in flight
};

// Data that ranks tell each other at startup, and the memory of their messages. Messages lie in a block of their
// sender, which every rank has registered as the mailboxes of its peers (compare JobMemory).
class Mailboxes {
 public:
  // Throws UsageError for limits that could not carry a message.
  Mailboxes(unsigned ranks, Bytes eager, const AriesMessageLimits& limits = {});

  [[nodiscard]] unsigned ranks() const { return static_cast<unsigned>(handles_.size()); }
  [[nodiscard]] const AriesMessageLimits& limits() const { return limits_; }
  [[nodiscard]] Bytes stride() const { return stride_; }  // of a message and its flag
  [[nodiscard]] std::span<std::byte> memory() const { return messages_.memory(); }
  [[nodiscard]] std::byte* at(Rank sender, std::uint32_t which) const {
    return messages_.at(index(sender)) + which * stride_;
  }
  // Handle of a rank's mailboxes.
  [[nodiscard]] MemoryHandle& handle(Rank rank) { return handles_[index(rank)]; }

 private:
  AriesMessageLimits limits_;
  Bytes stride_;
  std::vector<MemoryHandle> handles_;
  BufferPool messages_;  // one buffer for each sender
};

// Message device of one rank. No other object uses its domain.
class AriesMessages final : public services::MessageDevice {
 public:
  AriesMessages(Domain& domain, sim::ModelHost host, Mailboxes& mailboxes);

  bool send(Rank to, const services::MessageHead& head, std::span<const std::byte> payload,
            std::uint32_t number) override;
  void admit(std::span<std::byte> memory) override;
  void dismiss(std::span<std::byte> memory) override;
  [[nodiscard]] services::PutWindow open(Rank from, std::span<std::byte> memory, std::uint32_t receive) override;
  void put(Rank to, const services::PutWindow& window, std::span<const std::byte> payload,
           std::uint32_t number) override;
  bool progress(Sink& sink) override;
  [[nodiscard]] Bytes reserved_bytes() const override;

 private:
  struct Outgoing {
    std::uint32_t number = 0;
    services::MessageHead head;
    std::span<const std::byte> payload;
  };
  struct OutgoingPut {
    Rank to{};
    std::uint32_t number = 0;
    services::PutWindow window;
    std::span<const std::byte> payload;
  };
  struct Peer {
    // Messages to the peer.
    std::deque<Outgoing> waiting;
    std::deque<std::uint32_t> unread;  // blocks, in the order in which the peer reads them
    std::uint64_t sent = 0;
    // Messages from the peer.
    std::uint64_t begun = 0;           // messages whose turn has come
    std::vector<std::uint32_t> early;  // blocks of messages that have overtaken others
    std::uint64_t owed = 0;            // messages that were read and not reported to the peer
  };
  struct Arrived {
    Rank source{};
    std::uint32_t which = 0;
  };
  struct Admitted {
    std::span<std::byte> memory;
    MemoryHandle handle;
    unsigned times = 0;
  };

  [[nodiscard]] Peer& peer(Rank rank) { return peers_[index(rank)]; }
  [[nodiscard]] bool post(Rank to, const Outgoing& message);
  void start(const OutgoingPut& put);
  void push_waiting();
  void read(Rank by, std::uint64_t count);
  void arrived(Rank source, std::uint32_t which);
  [[nodiscard]] std::uint64_t turn_of(Rank source, std::uint32_t which) const;
  void take(const Arrived& message, Sink& sink);
  void tell_read(Rank source);
  [[nodiscard]] MemoryHandle handle_of(std::span<const std::byte> memory) const;

  Domain& domain_;
  sim::ModelHost host_;
  Mailboxes& mailboxes_;
  std::uint64_t batch_;  // messages that are reported as read together
  CqHandle arrivals_;    // messages and reports of messages read
  CqHandle ends_;        // ends of puts: this rank's own, and those of peers into its memory
  std::vector<Peer> peers_;
  NumberPool blocks_;
  std::vector<std::byte> stored_;  // head and payload, as a core stores them into its window
  std::vector<Admitted> admitted_;
  std::vector<Rank> refused_;       // peers with waiting messages, in the order in which they were refused
  std::deque<std::uint32_t> gone_;  // numbers of sent messages that are not reported yet
  std::deque<Arrived> due_;
  std::deque<OutgoingPut> waiting_puts_;
  unsigned puts_ = 0;  // block transfers in flight
};

}  // namespace gasmeter::networks::aries

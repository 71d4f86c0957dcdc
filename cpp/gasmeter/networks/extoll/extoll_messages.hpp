// Messages and puts of the two-sided layer on an EXTOLL card: VELO packets and RMA puts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>

#include "gasmeter/networks/extoll/extoll_port.hpp"
#include "gasmeter/services/message_device.hpp"

namespace gasmeter::networks::extoll {

// Message device of one rank. No other object uses its port.
class ExtollMessages final : public services::MessageDevice {
 public:
  // Throws UsageError for a card whose packets do not hold a head.
  ExtollMessages(ExtollPort& port, sim::ModelHost host);

  bool send(Rank to, const services::MessageHead& head, std::span<const std::byte> payload,
            std::uint32_t number) override;
  void admit(std::span<std::byte> memory) override { port_.admit(memory); }
  void dismiss(std::span<std::byte> memory) override { port_.dismiss(memory); }
  [[nodiscard]] services::PutWindow open(Rank from, std::span<std::byte> memory, std::uint32_t receive) override;
  void put(Rank to, const services::PutWindow& window, std::span<const std::byte> payload,
           std::uint32_t number) override;
  bool progress(Sink& sink) override;
  [[nodiscard]] Bytes reserved_bytes() const override { return port_.reserved_bytes(); }

 private:
  // A message of which the card has not taken all packets yet.
  struct Outgoing {
    Rank to;
    std::uint32_t number;
    services::MessageHead head;
    std::span<const std::byte> payload;
    Bytes at = 0;  // bytes of head and payload that are sent

    [[nodiscard]] Bytes left() const { return head.size() + payload.size() - at; }
  };
  struct Put {
    Rank to;
    std::uint32_t number;
    std::byte* remote;
    std::span<const std::byte> payload;
  };
  // A message that has begun to arrive.
  struct Incoming {
    std::byte* to = nullptr;
    Bytes left = 0;
    std::uint32_t which = 0;
  };

  void push_messages();
  void push_puts();
  void store_packet(Outgoing& message);
  void take_packet(const VeloPacket& packet, Sink& sink);
  void take_notification(Sink& sink);

  ExtollPort& port_;
  sim::ModelHost host_;
  Bytes per_packet_;
  std::deque<Outgoing> outbox_;
  std::deque<std::uint32_t> gone_;                        // numbers of sent messages that are not reported yet
  std::deque<Put> commands_;                              // puts that the card has had no room for
  std::deque<std::uint32_t> reading_;                     // numbers of puts, in the order in which the card reads them
  std::unordered_map<std::uint32_t, Incoming> incoming_;  // by source
  std::unordered_map<std::uint32_t, std::deque<std::uint32_t>> windows_;  // open windows in order, by source
};

}  // namespace gasmeter::networks::extoll

// Two-sided messages between ranks of one modelled node, through the node's memory: copied in and copied out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/services/message_device.hpp"
#include "gasmeter/services/node_boxes.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::services {

// A message, or a fragment of a put.
struct MessageParcel {
  Rank source{};
  MessageHead head;
  std::byte* to = nullptr;  // destination of a fragment
  bool last = true;         // of a fragment: the last one of its put
  std::vector<std::byte> payload;
};
using MessageBoxes = NodeBoxes<MessageParcel>;

// The device of one rank.
class NodeMessages final : public MessageDevice {
 public:
  static constexpr Bytes kFragment = 32 * 1024;  // largest part of a put in one parcel (estimate)

  NodeMessages(MessageBoxes& boxes, sim::ModelHost host) : boxes_(boxes), host_(host) {}

  [[nodiscard]] bool reaches(Rank rank) const { return are_node_mates(host_, rank); }

  bool send(Rank to, const MessageHead& head, std::span<const std::byte> payload, std::uint32_t number) override;
  [[nodiscard]] bool reaches_programs() const override { return false; }
  [[nodiscard]] PutWindow open(Rank from, std::span<std::byte> memory, std::uint32_t receive) override;
  void put(Rank to, const PutWindow& window, std::span<const std::byte> payload, std::uint32_t number) override;
  bool progress(Sink& sink) override;
  [[nodiscard]] Bytes reserved_bytes() const override {
    return boxes_.reserved_bytes(host_.rank(), [](const MessageParcel& parcel) { return parcel.payload.size(); });
  }

 private:
  struct Outgoing {
    Rank to;
    std::uint32_t number;
    MessageHead head;
    std::byte* destination;  // destination of a put
    std::span<const std::byte> payload;
  };

  void push();
  [[nodiscard]] bool leave(Outgoing& next);

  MessageBoxes& boxes_;
  sim::ModelHost host_;
  std::deque<Outgoing> outbox_;
  std::deque<std::uint32_t> gone_;  // numbers of sends whose completion has not been reported
};

}  // namespace gasmeter::services

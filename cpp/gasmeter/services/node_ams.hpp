// Active messages between ranks of one modelled node, through the node's memory. The sender builds a message in the
// place where the receiver's handler reads it. Conduits use them instead of looping such messages through the card.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "gasmeter/base/status.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/services/node_boxes.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::services {

// A message that is being built, lies in a box, or waits for its handler.
struct NodeAm {
  conduit::AmHeader header;  // as at its sender: `peer` is the destination
  Rank source{};
  HandlerIndex handler{};
  Bytes size = 0;
  void* destination = nullptr;  // of a Long
  std::array<std::int32_t, conduit::kMaxArguments> arguments{};
  std::unique_ptr<std::byte[]> payload;  // aligned for any type
  Bytes room = 0;                        // size of the payload's memory

  // Return the bytes in the node's memory, without the line in its slot.
  [[nodiscard]] Bytes bytes() const { return header.arguments * sizeof(std::int32_t) + room; }
};
using AmBoxes = NodeBoxes<std::unique_ptr<NodeAm>>;

// The node messages of one rank: a conduit's hooks for peers that `reaches(peer)`.
class NodeAms {
 public:
  // `boxes`: null if the card carries messages between node mates, too. Then the object reaches no rank.
  NodeAms(AmBoxes* boxes, sim::ModelHost host) : boxes_(boxes), host_(host) {}
  NodeAms(const NodeAms&) = delete;
  NodeAms& operator=(const NodeAms&) = delete;

  [[nodiscard]] bool is_used() const { return boxes_ != nullptr; }
  [[nodiscard]] bool reaches(Rank rank) const { return is_used() && are_node_mates(host_, rank); }

  // `room` is the size of the payload's memory.
  Status prepare(const conduit::AmHeader& header, Bytes room, conduit::AmBuffer& out);
  // Send the message. The payload is copied, so that its source may change. A Long's payload is copied to its
  // destination. The result is Status::ok.
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message);
  void cancel(const conduit::AmBuffer& buffer);
  // Hand at most `budget` messages to the sink. Requests that arrive while only replies are wanted wait here, and free
  // their slots. Call it only if is_used().
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter);
  // Return the memory of the rank's box, of the messages in it, and of messages prepared or waiting.
  [[nodiscard]] Bytes reserved_bytes() const;

 private:
  [[nodiscard]] std::unique_ptr<NodeAm> take_prepared(const conduit::AmBuffer& buffer);
  [[nodiscard]] std::unique_ptr<NodeAm> next(conduit::PollFilter filter);

  AmBoxes* boxes_;
  sim::ModelHost host_;
  std::vector<std::unique_ptr<NodeAm>> prepared_;  // by slot of the buffer; null: free
  std::deque<std::unique_ptr<NodeAm>> deferred_;   // requests that wait
};

}  // namespace gasmeter::services

// Active messages between ranks of one modelled node: through its memory, built by the sender where the receiver's
// handler finds them. For conduits whose device would loop them through its card.
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
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::services {

// One that is being built, lies in a box, or waits for its handler.
struct NodeAm {
  conduit::AmHeader header;  // as its sender has it: to whom
  Rank source{};
  HandlerIndex handler{};
  Bytes size = 0;
  void* destination = nullptr;  // a Long's
  std::array<std::int32_t, conduit::kMaxArguments> arguments{};
  std::unique_ptr<std::byte[]> payload;  // aligned for any type
  Bytes room = 0;                        // for it

  // In the memory of the node, but for the line in its slot.
  [[nodiscard]] Bytes bytes() const { return header.arguments * sizeof(std::int32_t) + room; }
};
using AmBoxes = NodeBoxes<std::unique_ptr<NodeAm>>;

// One rank's: what a conduit's hooks do where `reaches(peer)`.
class NodeAms {
 public:
  NodeAms(AmBoxes& boxes, sim::ModelHost host) : boxes_(boxes), host_(host) {}
  NodeAms(const NodeAms&) = delete;
  NodeAms& operator=(const NodeAms&) = delete;

  [[nodiscard]] bool reaches(Rank rank) const { return are_node_mates(host_, rank); }

  // `room`: for the payload.
  Status prepare(const conduit::AmHeader& header, Bytes room, conduit::AmBuffer& out);
  // The payload has been taken: its source may change. A Long's is copied to its destination.
  void commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message);
  void cancel(const conduit::AmBuffer& buffer);
  // Hands over at most `budget`; requests that come while only replies are wanted wait here, and leave their slots.
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter);
  // The rank's box, and messages that lie in it, are prepared or wait.
  [[nodiscard]] Bytes reserved_bytes() const;

 private:
  [[nodiscard]] std::unique_ptr<NodeAm> take_prepared(const conduit::AmBuffer& buffer);
  [[nodiscard]] std::unique_ptr<NodeAm> next(conduit::PollFilter filter);

  AmBoxes& boxes_;
  sim::ModelHost host_;
  std::vector<std::unique_ptr<NodeAm>> prepared_;  // by slot of their buffers; null: none
  std::deque<std::unique_ptr<NodeAm>> deferred_;   // requests
};

}  // namespace gasmeter::services

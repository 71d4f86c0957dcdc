// Two-sided messages between ranks of one modelled node: through its memory, copied in and copied out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/services/message_device.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::services {

// What ranks have for their node mates, of all nodes. Each box is touched on its node only.
class NodeBoxes {
 public:
  static constexpr unsigned kSlots = 64;         // parcels of a box. Estimate
  static constexpr Bytes kFragment = 32 * 1024;  // of a long message that a parcel carries at most. Estimate

  // A message, or a fragment of a put.
  struct Parcel {
    Rank source{};
    MessageHead head;
    std::byte* to = nullptr;  // a fragment: where it belongs
    bool last = true;         // ... and whether the put is there with it
    std::vector<std::byte> payload;
  };
  struct alignas(kNoSharing) Box {
    std::deque<Parcel> parcels;
    std::vector<Rank> refused;  // wait for a slot
  };

  explicit NodeBoxes(std::uint32_t ranks) : boxes_(ranks) {}
  [[nodiscard]] Box& of(Rank rank) { return boxes_[index(rank)]; }

 private:
  std::vector<Box> boxes_;
};

// One rank's.
class NodeMessages final : public MessageDevice {
 public:
  NodeMessages(NodeBoxes& boxes, sim::ModelHost host) : boxes_(boxes), host_(host) {}

  [[nodiscard]] bool reaches(Rank rank) const {
    return index(rank) < host_.engine().ranks() && host_.engine().node_of(rank) == host_.node();
  }

  bool send(Rank to, const MessageHead& head, std::span<const std::byte> payload, std::uint32_t number) override;
  [[nodiscard]] PutWindow open(Rank from, std::span<std::byte> memory, std::uint32_t receive) override;
  void put(Rank to, const PutWindow& window, std::span<const std::byte> payload, std::uint32_t number) override;
  bool progress(Sink& sink) override;

 private:
  struct Outgoing {
    Rank to;
    std::uint32_t number;
    MessageHead head;
    std::byte* there;  // of a put
    std::span<const std::byte> payload;
  };

  void push();
  [[nodiscard]] bool leave(Outgoing& next);

  NodeBoxes& boxes_;
  sim::ModelHost host_;
  std::deque<Outgoing> outbox_;
  std::deque<std::uint32_t> gone_;  // numbers of which nobody has been told
};

}  // namespace gasmeter::services

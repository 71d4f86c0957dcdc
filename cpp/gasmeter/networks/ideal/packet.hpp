// Packets of the toy network, pooled and handed on by pointer: a byte moves only where a host moves it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/intrusive_queue.hpp"

namespace gasmeter::networks::ideal {

// A page of payload and room for a header with 16 arguments.
inline constexpr Bytes kMaxPacketBytes = 4096 + 128;

class IdealNetwork;

// What a NIC does by itself: moves bytes from memory to memory and tells its software of it.
struct Put {
  const void* from = nullptr;  // null: they are in the packet already
  void* to = nullptr;
  Bytes bytes = 0;
  conduit::OperationId root = conduit::kNoOperation;
  conduit::OperationId local = conduit::kNoOperation;
};

struct Packet : sim::Action {
  Packet() : sim::Action(nullptr) {}
  IdealNetwork* network = nullptr;
  Rank source{};
  Rank target{};
  Bytes size = 0;           // bytes in use, all of which travel
  bool on_the_wire = true;  // false: the receiving NIC is busy with it
  bool is_put = false;
  Put put;
  alignas(std::max_align_t) std::array<std::byte, kMaxPacketBytes> bytes;
};

using PacketList = sim::IntrusiveQueue<Packet>;

// Grows to what is under way at once and then allocates no more. Outlives all handles.
class PacketPool {
 public:
  struct Return {
    PacketPool* pool;
    void operator()(Packet* packet) const { pool->free_.push(packet); }
  };
  using Handle = std::unique_ptr<Packet, Return>;

  [[nodiscard]] Handle make() {
    if (free_.empty()) {
      packets_.push_back(std::make_unique_for_overwrite<Packet>());
      return own(packets_.back().get());
    }
    return own(free_.pop());
  }
  [[nodiscard]] Handle own(Packet* packet) { return {packet, Return{this}}; }
  [[nodiscard]] std::size_t made() const { return packets_.size(); }

 private:
  std::vector<std::unique_ptr<Packet>> packets_;
  PacketList free_;
};

using PacketHandle = PacketPool::Handle;

}  // namespace gasmeter::networks::ideal

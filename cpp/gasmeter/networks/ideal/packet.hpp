// Packets of the toy network, pooled and passed on by pointer. Only a host moves their bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/fabric/intrusive_queue.hpp"

namespace gasmeter::networks::ideal {

// A page of payload, and room for a header with 16 arguments.
inline constexpr Bytes kMaxPacketBytes = 4096 + 128;

class IdealNetwork;

// Put that a NIC does without its host: it moves the bytes and reports to its software.
struct Put {
  const void* from = nullptr;  // null: the bytes are in the packet
  void* to = nullptr;
  Bytes bytes = 0;
  conduit::OperationId root = conduit::kNoOperation;
  conduit::OperationId local = conduit::kNoOperation;
};

struct alignas(std::max_align_t) Packet : sim::Action {
  explicit Packet(std::span<std::byte> room) : sim::Action(nullptr), bytes(room) {}
  IdealNetwork* network = nullptr;
  Rank source{};
  Rank target{};
  Bytes size = 0;           // bytes in use, all of which travel
  bool on_the_wire = true;  // false: the receiving NIC is busy with it
  bool is_put = false;
  Put put;
  std::span<std::byte> bytes;  // all its bytes, which lie behind this object
};

using PacketList = sim::IntrusiveQueue<Packet>;

// Pool that grows to the largest number of packets under way. Small packets have a size of their own, because a job of
// many ranks has many of them. The pool outlives all handles.
class PacketPool {
 public:
  static constexpr Bytes kSmall = 160;  // a header with 16 arguments and a little payload

  struct Return {
    PacketPool* pool;
    void operator()(Packet* packet) const { pool->free_of(packet->bytes.size()).push(packet); }
  };
  using Handle = std::unique_ptr<Packet, Return>;

  // Return a packet for at least `bytes` bytes, up to kMaxPacketBytes.
  [[nodiscard]] Handle make(Bytes bytes) {
    const Bytes room = bytes <= kSmall ? kSmall : kMaxPacketBytes;
    PacketList& free = free_of(room);
    return own(free.empty() ? &add(room) : free.pop());
  }
  [[nodiscard]] Handle own(Packet* packet) { return {packet, Return{this}}; }
  [[nodiscard]] std::size_t made() const { return memory_.size(); }

 private:
  static_assert(sizeof(Packet) % alignof(std::max_align_t) == 0 && std::is_trivially_destructible_v<Packet>);

  [[nodiscard]] PacketList& free_of(Bytes room) { return room == kSmall ? small_ : large_; }
  [[nodiscard]] Packet& add(Bytes room) {
    memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(sizeof(Packet) + room));
    std::byte* const at = memory_.back().get();
    return *::new (static_cast<void*>(at)) Packet({at + sizeof(Packet), room});
  }

  std::vector<std::unique_ptr<std::byte[]>> memory_;
  PacketList small_;
  PacketList large_;
};

using PacketHandle = PacketPool::Handle;

}  // namespace gasmeter::networks::ideal

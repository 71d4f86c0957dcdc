// Messages in host memory, and the boxes through which ranks of a node pass them to each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/networks/extoll/wire.hpp"
#include "gasmeter/services/node_boxes.hpp"
#include "gasmeter/sim/fabric/intrusive_queue.hpp"

namespace gasmeter::networks::extoll {

inline constexpr Bytes kMostMedium = 8192;
inline constexpr Bytes kMostLong = 32 * 1024;

// A message that is being put together, waits, or lies in the node's memory. Its payload follows it in memory.
struct alignas(std::max_align_t) Message {
  Message* next = nullptr;  // in a queue of its holder
  WireHeader header;
  Rank source{};
  std::uint8_t size_class = 0;
  Bytes arguments_missing = 0;
  Bytes data_missing = 0;
  void* destination = nullptr;  // destination of a Long
  std::array<std::int32_t, conduit::kMaxArguments> arguments;

  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] bool complete() const { return arguments_missing + data_missing == 0; }
  // Append bytes of arguments and data in the order in which they are sent.
  void append(std::span<const std::byte> bytes);
};
using MessageQueue = sim::IntrusiveQueue<Message>;

// Spare messages of one partition of the engine. A message returns to the store it was taken from, so that threads do
// not meet. Ranks have no storage of their own.
class alignas(kNoSharing) MessageStore {
 public:
  // Take a message with room for `bytes` of data, at most kMostLong.
  [[nodiscard]] Message& take(Bytes bytes);
  void give(Message& message) {
    message.next = spare_[message.size_class];
    spare_[message.size_class] = &message;
  }
  [[nodiscard]] Bytes held() const { return held_; }
  // Bytes of a message: header, arguments and the room for its data.
  [[nodiscard]] static Bytes bytes_of(const Message& message) {
    return sizeof message.header + sizeof message.arguments + kRoom[message.size_class];
  }

 private:
  static constexpr std::array<Bytes, 4> kRoom = {sizeof(std::int64_t) * 8, 1024, kMostMedium, kMostLong};

  void refill(std::size_t size_class);

  std::array<Message*, kRoom.size()> spare_{};
  std::array<std::size_t, kRoom.size()> made_{};
  std::vector<std::unique_ptr<std::byte[]>> slabs_;
  Bytes held_ = 0;
};

// Messages for node mates.
using NearBoxes = services::NodeBoxes<Message*>;

}  // namespace gasmeter::networks::extoll

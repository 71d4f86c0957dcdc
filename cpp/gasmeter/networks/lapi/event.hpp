// Events of a task's software in LAPI's words, and the handler that tells where the data of messages go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::lapi {

inline constexpr std::uint64_t kNoCounter = ~std::uint64_t{0};

// A counter has risen. `counter` is the number that the counter's owner gave it. In packet mode the origin counter
// rises at the call, since the send FIFO holds the data then. In RDMA mode it rises with the completion counter: until
// the target has all data, the adapter may have to read the memory again.
struct Event {
  enum class Type : std::uint8_t {
    none,        // LAPI's own packet: an acknowledgement, or part of a message
    message,     // an Amsend has arrived completely; `counter` is from its header handler
    target,      // a put that named this counter has arrived completely
    completion,  // a put is in the target's memory, or the data of a get have arrived
  };
  Type type = Type::none;
  Rank peer{};
  std::uint64_t counter = kNoCounter;
};

// Destination of a message's data.
struct Landing {
  std::byte* to = nullptr;  // null: the message has no data
  std::uint64_t counter = kNoCounter;
  bool by_handler = false;  // a completion handler runs before the counter rises
};

// Header handler of a task, for all its messages. The handler runs under LAPI's lock, in the dispatcher, and must not
// communicate.
class HeaderHandler {
 public:
  // `user_header` lies in the receive FIFO and is gone after the call. `bytes` bytes of data follow.
  virtual Landing begin(Rank from, std::span<const std::byte> user_header, Bytes bytes) = 0;

 protected:
  ~HeaderHandler() = default;
};

}  // namespace gasmeter::networks::lapi

// What a task's software is told, in LAPI's words, and whom its messages ask where their data go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::lapi {

inline constexpr std::uint64_t kNoCounter = ~std::uint64_t{0};

// A counter that has risen, by the number that its owner knows it by. That of an origin rises at the call in packet
// mode, since the data is in the send FIFO then; in RDMA mode with the completion counter: the adapter may have to read
// the memory again until the other one has all.
struct Event {
  enum class Type : std::uint8_t {
    none,        // LAPI's own: credit, part of a message
    message,     // all of an Amsend is here, `counter` its header handler's
    target,      // all of a put is here, which named this counter
    completion,  // a put is in the target's memory, or what was got is here
  };
  Type type = Type::none;
  Rank peer{};
  std::uint64_t counter = kNoCounter;
};

// Where the data of a message go.
struct Landing {
  std::byte* to = nullptr;  // null: there are none
  std::uint64_t counter = kNoCounter;
  bool by_handler = false;  // a completion handler runs before the counter rises
};

// Of a task, for all its messages. Runs under LAPI's lock, in the dispatcher: it must not communicate.
class HeaderHandler {
 public:
  // `user_header` lies in the receive FIFO and is gone after the call; `bytes` of data follow.
  virtual Landing begin(Rank from, std::span<const std::byte> user_header, Bytes bytes) = 0;

 protected:
  ~HeaderHandler() = default;
};

}  // namespace gasmeter::networks::lapi

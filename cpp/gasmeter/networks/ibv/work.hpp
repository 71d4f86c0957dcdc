// Work requests, as software posts them, and their completions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::ibv {

enum class Opcode : std::uint8_t { send, write, read, fetch_add, compare_swap, receive };

// Those that change a word of 8 B at the target and bring back what was there.
[[nodiscard]] constexpr bool is_atomic(Opcode opcode) {
  return opcode == Opcode::fetch_add || opcode == Opcode::compare_swap;
}
inline constexpr Bytes kAtomicWord = 8;

// For the send queue of a queue pair.
struct WorkRequest {
  std::uint64_t id = 0;  // the software's own
  Opcode opcode = Opcode::send;
  const void* local = nullptr;  // a read's and an atomic's: where what is there goes
  void* remote = nullptr;       // all but a send's; an atomic's: a word aligned to its 8 B
  Bytes bytes = 0;
  std::uint32_t immediate = 0;  // a send's
  std::uint64_t operand = 0;    // an atomic's: what is added (it wraps around), or stored where it finds `compare`
  std::uint64_t compare = 0;
  bool inlined = false;  // the work request carries the bytes: they may change at once and need no registration
  bool signaled = true;  // there will be a completion
};

// In host memory. Estimates: one address, key and length; what ConnectX adapters write.
inline constexpr Bytes kReceiveEntry = 16;
inline constexpr Bytes kCompletionEntry = 32;

// For a receive queue.
struct Receive {
  std::uint64_t id = 0;
  std::span<std::byte> memory;
};

struct WorkCompletion {
  std::uint64_t id = 0;
  Opcode opcode{};
  std::uint8_t number = 0;  // of the queue pair
  Rank peer{};
  std::uint32_t immediate = 0;
  Bytes bytes = 0;
  std::uint64_t message = 0;  // in the order of the queue pair's work requests
};

}  // namespace gasmeter::networks::ibv

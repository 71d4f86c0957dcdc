// Work requests, as software posts them, and their completions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::ibv {

enum class Opcode : std::uint8_t { send, write, read, fetch_add, compare_swap, receive };

// Tell whether an operation changes a word of 8 B at the target and returns the old value.
[[nodiscard]] constexpr bool is_atomic(Opcode opcode) {
  return opcode == Opcode::fetch_add || opcode == Opcode::compare_swap;
}
inline constexpr Bytes kAtomicWord = 8;

// Entry of a queue pair's send queue.
struct WorkRequest {
  std::uint64_t id = 0;  // software's own number
  Opcode opcode = Opcode::send;
  const void* local = nullptr;  // source; of a read or atomic: destination
  void* remote = nullptr;       // all but sends; of an atomic: a word aligned to its 8 B
  Bytes bytes = 0;
  std::uint32_t immediate = 0;  // of a send
  // Summand of an atomic (wraps around), or the value to store if the word equals `compare`.
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
  bool inlined = false;  // the work request carries the bytes: they may change at once and need no registration
  bool signaled = true;  // the work request has a completion
};

// Sizes in host memory. Estimates: one address, key and length; as ConnectX adapters write them.
inline constexpr Bytes kReceiveEntry = 16;
inline constexpr Bytes kCompletionEntry = 32;

// Entry of a receive queue.
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
  std::uint64_t message = 0;  // number in the order of the queue pair's work requests
};

}  // namespace gasmeter::networks::ibv

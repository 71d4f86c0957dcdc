// How many instructions this library's own code executes where a host is charged for them: a host of which the time of
// an instruction is known is priced by them. README.md, "Counted instructions", says how they were counted, and of
// what.
#pragma once

#include <cstdint>

namespace gasmeter::conduit {

inline constexpr unsigned kSmallTemporary = 1032;  // what an allocator keeps for its thread

struct InstructionCounts {
  // Between neighbours, where nothing but core takes part.
  unsigned call = 19;          // put-smp of tests/instructions.py
  unsigned header_build = 32;  // smp of tests/am_instructions.py: request 29, reply 35
  unsigned dispatch = 106;     // handler 103, answered 109
  // `new[]` and `delete[]`, of at most kSmallTemporary bytes and of more: small-memory, large-memory of
  // tests/instructions.py.
  unsigned temporary = 166;
  unsigned large_temporary = 350;
  // A network's conduit's, beside those.
  unsigned inject = 0;
  unsigned deliver = 0;
};

// Of a strided description of so many levels, `several` of which have more than one turn: read, folded into `left` and
// checked; and of one that is walked through as it is. fold-*, sort-*, nest-* of tests/instructions.py.
constexpr std::uint64_t folding(std::uint64_t levels, std::uint64_t several, std::uint64_t left) {
  return 240 + 8 * levels + 28 * several + 123 * (left > 1 ? left - 1 : 0);
}
constexpr std::uint64_t nesting(std::uint64_t levels) {
  return 389 + 115 * levels;
}

}  // namespace gasmeter::conduit

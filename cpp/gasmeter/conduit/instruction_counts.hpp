// Numbers of instructions that this library's own code executes. A host whose time of an instruction is known is
// priced by them. README.md, "Counted instructions", says how and where they were counted.
#pragma once

#include <cstdint>

namespace gasmeter::conduit {

inline constexpr unsigned kSmallTemporary = 1032;  // bytes: an allocator keeps blocks up to this size for its thread

struct InstructionCounts {
  // Core alone, between neighbours.
  unsigned call = 19;          // put-smp of tests/instructions.py
  unsigned header_build = 32;  // smp of tests/am_instructions.py: request 29, reply 35
  unsigned dispatch = 106;     // handler 103, answered 109
  // `new[]` and `delete[]`, of at most kSmallTemporary bytes and of more: small-memory, large-memory of
  // tests/instructions.py.
  unsigned temporary = 166;
  unsigned large_temporary = 350;
  // Additional instructions of a network's conduit.
  unsigned inject = 0;
  unsigned deliver = 0;
};

// Instructions that read, fold and check a strided description of `levels` levels. `several` of the levels have more
// than one turn, and `left` remain after folding. nesting() counts a description that is used unfolded. Sources are
// fold-*, sort-* and nest-* of tests/instructions.py.
constexpr std::uint64_t folding(std::uint64_t levels, std::uint64_t several, std::uint64_t left) {
  return 240 + 8 * levels + 28 * several + 123 * (left > 1 ? left - 1 : 0);
}
constexpr std::uint64_t nesting(std::uint64_t levels) {
  return 389 + 115 * levels;
}

}  // namespace gasmeter::conduit

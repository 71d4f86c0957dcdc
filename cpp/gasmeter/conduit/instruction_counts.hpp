// How many instructions this library's own code executes where a host is charged for them: a host of which the time of
// an instruction is known is priced by them. README.md, "Counted instructions", says how they were counted, and of
// what.
#pragma once

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

}  // namespace gasmeter::conduit

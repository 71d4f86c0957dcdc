// How many instructions this library's own code takes for what a host is charged private prices for.
#pragma once

namespace gasmeter::conduit {

struct InstructionCounts {
  unsigned call = 0;
  unsigned inject = 0;
  unsigned header_build = 0;
  unsigned dispatch = 0;
};

}  // namespace gasmeter::conduit

// The scale for operations that cost next to nothing: an empty call.
#pragma once

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::bench {

// Cost what a put or get costs that does nothing: the arguments are passed, the call returns.
inline GASMETER_NOINLINE void empty_call(Rank rank, void* to, const void* from, Bytes bytes) {
  asm volatile("" : : "r"(index(rank)), "r"(to), "r"(from), "r"(bytes) : "memory");
}

}  // namespace gasmeter::bench

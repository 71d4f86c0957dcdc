// First entry to a stack by ucontext.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/fibres/stack_pool.hpp"

namespace gasmeter::sim {

// Entry point for makecontext, which passes ints, so that a pointer travels in halves.
using Halves = void (*)(unsigned high, unsigned low);

inline void make_ucontext(ucontext_t& context, const Stack& stack, Halves entry, void* argument) {
  if (getcontext(&context) != 0) throw_errno("sim: getcontext");
  context.uc_stack.ss_sp = stack.bottom;
  context.uc_stack.ss_size = stack.size;
  context.uc_link = nullptr;
  const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(argument));
  makecontext(&context, reinterpret_cast<void (*)()>(entry), 2, static_cast<unsigned>(bits >> 32),
              static_cast<unsigned>(bits & 0xffffffffU));
}

template <class T>
T* from_halves(unsigned high, unsigned low) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>((static_cast<std::uint64_t>(high) << 32) | low));
}

}  // namespace gasmeter::sim

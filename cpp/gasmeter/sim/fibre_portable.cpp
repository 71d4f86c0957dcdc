// Fibres by _setjmp and _longjmp, which leave the signal mask alone, so that neither makes a system call.

// The checked longjmp of fortified builds refuses to change stacks, and this file does nothing else.
#undef _FORTIFY_SOURCE

#include <setjmp.h>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/sim/fibre_makers.hpp"
#include "gasmeter/sim/make_ucontext.hpp"

namespace gasmeter::sim {

struct Fibre::Makers::Portable {
  struct Frame {
    jmp_buf registers;
    Arrival arrival;
    Fibre* fibre;  // read at the first entry
  };

  static Arrival jump(void* to, void* data) {
    Frame here;
    auto& there = *static_cast<Frame*>(to);
    there.arrival = {&here, data};
    if (_setjmp(here.registers) == 0) _longjmp(there.registers, 1);
    return here.arrival;
  }

  [[noreturn]] GASMETER_NOINLINE static void enter_by_ucontext(const Stack& stack, Frame& from) {
    ucontext_t context;
    make_ucontext(context, stack, &enter, &from);
    setcontext(&context);
    throw_errno("sim: setcontext");
  }

  static void enter(unsigned high, unsigned low) {
    auto* from = from_halves<Frame>(high, low);
    Fibre& fibre = *from->fibre;
    fibre.other_ = from;
    fibre.jump_ = &jump;
    fibre.run_body();
    jump(fibre.other_, nullptr);
  }
};

Fibre::Arrival Fibre::Makers::start_portable(void* /*to*/, void* data) {
  Portable::Frame here;
  here.fibre = static_cast<Fibre*>(data);
  if (_setjmp(here.registers) == 0) Portable::enter_by_ucontext(here.fibre->stack_, here);
  return here.arrival;
}

}  // namespace gasmeter::sim

// Fibres by _setjmp and _longjmp, which leave the signal mask alone, so that neither makes a system call.

// The checked longjmp of fortified builds refuses to change stacks, and this file does nothing else.
#undef _FORTIFY_SOURCE

#include <setjmp.h>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/sim/fibres/fibre_makers.hpp"
#include "gasmeter/sim/fibres/make_ucontext.hpp"

namespace gasmeter::sim {

struct Fibre::Makers::Portable {
  struct Frame {
    jmp_buf registers;
    Arrival arrival;
    Fibre* fibre;  // read at the first entry
  };

  static Arrival jump(void* to, void* data) {
    Frame frame;
    auto& target = *static_cast<Frame*>(to);
    target.arrival = {&frame, data};
    if (_setjmp(frame.registers) == 0) _longjmp(target.registers, 1);
    return frame.arrival;
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
  Portable::Frame frame;
  frame.fibre = static_cast<Fibre*>(data);
  if (_setjmp(frame.registers) == 0) Portable::enter_by_ucontext(frame.fibre->stack_, frame);
  return frame.arrival;
}

}  // namespace gasmeter::sim

// Fibres by a dozen instructions: the saved registers lie on the suspended stack. A switch ends in an indirect jump,
// since a `ret` would be predicted to return to where this stack was called from. Modes of floating point stay with the
// thread.
#include "gasmeter/sim/fibres/fibre_makers.hpp"

#if GASMETER_ASSEMBLY
namespace gasmeter::sim {

struct Fibre::Makers::Assembly {
  struct Registers {
    void* r15_to_rbp[6] = {};
    void (*address)(void* from, void* data);
    void* no_caller = nullptr;
  };

  __attribute__((naked)) static Arrival jump(void* /*to: rdi*/, void* /*data: rsi*/) {
    asm("pushq %rbp\n\t"
        "pushq %rbx\n\t"
        "pushq %r12\n\t"
        "pushq %r13\n\t"
        "pushq %r14\n\t"
        "pushq %r15\n\t"
        "movq %rsp, %rax\n\t"
        "movq %rdi, %rsp\n\t"
        "popq %r15\n\t"
        "popq %r14\n\t"
        "popq %r13\n\t"
        "popq %r12\n\t"
        "popq %rbx\n\t"
        "popq %rbp\n\t"
        "popq %rcx\n\t"
        "movq %rax, %rdi\n\t"  // arguments of enter
        "movq %rsi, %rdx\n\t"
        "jmpq *%rcx");
  }

  static void enter(void* from, void* data) {
    auto& fibre = *static_cast<Fibre*>(data);
    fibre.other_ = from;
    fibre.jump_ = &jump;
    fibre.run_body();
    jump(fibre.other_, nullptr);
  }
};

Fibre::Arrival Fibre::Makers::start_assembly(void* /*to*/, void* data) {
  const Fibre& fibre = *static_cast<Fibre*>(data);
  // Lay out the stack as if enter() had been called: the word at the stack pointer, 8 past a multiple of 16, is the
  // return address.
  auto* registers = reinterpret_cast<Assembly::Registers*>(fibre.stack_.top() - sizeof(Assembly::Registers));
  *registers = {.address = &Assembly::enter};
  return Assembly::jump(registers, data);
}

}  // namespace gasmeter::sim

#endif

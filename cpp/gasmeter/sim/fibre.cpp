// The checked longjmp of fortified builds refuses to change stacks, which is all that is done here.
#undef _FORTIFY_SOURCE

#include "gasmeter/sim/fibre.hpp"

#include <pthread.h>
#include <setjmp.h>
#include <ucontext.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <semaphore>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"

#if defined(__has_feature)
#define GASMETER_HAS_FEATURE(x) __has_feature(x)
#else
#define GASMETER_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || GASMETER_HAS_FEATURE(address_sanitizer)
#define GASMETER_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define GASMETER_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__) || GASMETER_HAS_FEATURE(thread_sanitizer)
#define GASMETER_TSAN 1
#include <sanitizer/tsan_interface.h>
#else
#define GASMETER_TSAN 0
#endif
#if defined(__x86_64__) && !defined(__ILP32__)
#define GASMETER_ASSEMBLY 1
#else
#define GASMETER_ASSEMBLY 0
#endif
#if !defined(GASMETER_FCONTEXT)
#define GASMETER_FCONTEXT 0
#endif
#if GASMETER_FCONTEXT
#include <boost/context/detail/fcontext.hpp>
#endif

namespace gasmeter::sim {

namespace {

constexpr bool kSanitized = GASMETER_ASAN || GASMETER_TSAN;
constexpr std::array<std::string_view, 6> kNames = {"automatic", "assembly", "fcontext",
                                                    "portable",  "ucontext", "thread"};

// makecontext passes ints, so a pointer travels in halves.
using Halves = void (*)(unsigned high, unsigned low);

void make_ucontext(ucontext_t& context, const Stack& stack, Halves entry, void* argument) {
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

}  // namespace

// Each maker: start_x makes the context and enters it, enter_x runs the body there, jump_x switches. All catch blocks
// are left before the last jump.
struct Fibre::Makers {
  static Jump start_of(FibreMaker maker);

  // ---- assembly: the saved registers lie on the suspended stack. It ends in an indirect jump: a `ret` would be
  // predicted to go back where this stack was called from. Modes of floating point stay with the thread.
#if GASMETER_ASSEMBLY
  struct Registers {
    void* r15_to_rbp[6] = {};
    void (*address)(void* from, void* data);
    void* no_caller = nullptr;
  };

  __attribute__((naked)) static Arrival jump_assembly(void* /*to: rdi*/, void* /*data: rsi*/) {
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
        "movq %rax, %rdi\n\t"  // arguments of enter_assembly
        "movq %rsi, %rdx\n\t"
        "jmpq *%rcx");
  }

  static Arrival start_assembly(void* /*to*/, void* data) {
    const Fibre& fibre = *static_cast<Fibre*>(data);
    // Entered as if called: the word at the stack pointer, 8 past a multiple of 16, is where it would return to.
    auto* registers = reinterpret_cast<Registers*>(fibre.stack_.top() - sizeof(Registers));
    *registers = {.address = &enter_assembly};
    return jump_assembly(registers, data);
  }

  static void enter_assembly(void* from, void* data) {
    auto& fibre = *static_cast<Fibre*>(data);
    fibre.other_ = from;
    fibre.jump_ = &jump_assembly;
    fibre.run_body();
    jump_assembly(fibre.other_, nullptr);
  }
#endif

  // ---- fcontext
#if GASMETER_FCONTEXT
  // Boost's transfer_t is an Arrival by another name.
  static_assert(sizeof(boost::context::detail::transfer_t) == sizeof(Arrival));

  static Jump jump_fcontext() {
    return reinterpret_cast<Jump>(reinterpret_cast<void (*)()>(&boost::context::detail::jump_fcontext));
  }

  static Arrival start_fcontext(void* /*to*/, void* data) {
    const Fibre& fibre = *static_cast<Fibre*>(data);
    return jump_fcontext()(
        boost::context::detail::make_fcontext(fibre.stack_.top(), fibre.stack_.size, &enter_fcontext), data);
  }

  static void enter_fcontext(boost::context::detail::transfer_t arrival) {
    auto& fibre = *static_cast<Fibre*>(arrival.data);
    fibre.other_ = arrival.fctx;
    fibre.jump_ = jump_fcontext();
    fibre.run_body();
    fibre.jump_(fibre.other_, nullptr);
  }
#endif

  // ---- portable: _setjmp and _longjmp leave the signal mask alone, so neither makes a system call
  struct JumpFrame {
    jmp_buf registers;
    Arrival arrival;
    Fibre* fibre;  // at the first entry
  };

  static Arrival jump_portable(void* to, void* data) {
    JumpFrame here;
    auto& there = *static_cast<JumpFrame*>(to);
    there.arrival = {&here, data};
    if (_setjmp(here.registers) == 0) _longjmp(there.registers, 1);
    return here.arrival;
  }

  [[noreturn]] GASMETER_NOINLINE static void enter_by_ucontext(const Stack& stack, JumpFrame& from) {
    ucontext_t context;
    make_ucontext(context, stack, &enter_portable, &from);
    setcontext(&context);
    throw_errno("sim: setcontext");
  }

  static Arrival start_portable(void* /*to*/, void* data) {
    JumpFrame here;
    here.fibre = static_cast<Fibre*>(data);
    if (_setjmp(here.registers) == 0) enter_by_ucontext(here.fibre->stack_, here);
    return here.arrival;
  }

  static void enter_portable(unsigned high, unsigned low) {
    auto* from = from_halves<JumpFrame>(high, low);
    Fibre& fibre = *from->fibre;
    fibre.other_ = from;
    fibre.jump_ = &jump_portable;
    fibre.run_body();
    jump_portable(fibre.other_, nullptr);
  }

  // ---- ucontext: whoever leaves notes in its frame what the sanitizers must know for the way back
  struct UFrame {
    ucontext_t context;
    Arrival arrival;
    Fibre* fibre = nullptr;        // at the first entry
    const void* bottom = nullptr;  // of this frame's stack, filled in by where it went
    std::size_t size = 0;
    void* fake_stack = nullptr;  // of the address sanitizer
    void* fiber = nullptr;       // of the thread sanitizer
  };

  static void* this_fiber() {
#if GASMETER_TSAN
    return __tsan_get_current_fiber();
#else
    return nullptr;
#endif
  }

  // `fake_stack`: where to keep that of the stack left, nothing to drop it.
  static void before_switch([[maybe_unused]] const UFrame& there, [[maybe_unused]] void** fake_stack) {
#if GASMETER_ASAN
    __sanitizer_start_switch_fiber(fake_stack, there.bottom, there.size);
#endif
#if GASMETER_TSAN
    __tsan_switch_to_fiber(there.fiber, 0);
#endif
  }

  // `from`: who came here and waits for the way back, if anybody.
  static void after_switch([[maybe_unused]] void* fake_stack, [[maybe_unused]] void* from) {
#if GASMETER_ASAN
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(fake_stack, &bottom, &size);
    if (from == nullptr) return;
    static_cast<UFrame*>(from)->bottom = bottom;
    static_cast<UFrame*>(from)->size = size;
#endif
  }

  static void swap(UFrame& here, UFrame& there) {
    here.context.uc_stack = {};  // at every switch the address sanitizer forgets what lies on the stack named here
    here.fiber = this_fiber();
    before_switch(there, &here.fake_stack);
    swapcontext(&here.context, &there.context);
    after_switch(here.fake_stack, here.arrival.from);
  }

  static Arrival jump_ucontext(void* to, void* data) {
    UFrame here;
    auto& there = *static_cast<UFrame*>(to);
    there.arrival = {&here, data};
    swap(here, there);
    return here.arrival;
  }

  static Arrival start_ucontext(void* /*to*/, void* data) {
    UFrame here;
    here.fibre = static_cast<Fibre*>(data);
    const Stack& stack = here.fibre->stack_;
    UFrame inside;
    make_ucontext(inside.context, stack, &enter_ucontext, &here);
    inside.bottom = stack.bottom;
    inside.size = stack.size;
#if GASMETER_TSAN
    inside.fiber = __tsan_create_fiber(0);
#endif
    swap(here, inside);
    return here.arrival;
  }

  static void enter_ucontext(unsigned high, unsigned low) {
    auto* from = from_halves<UFrame>(high, low);
    after_switch(nullptr, from);
    Fibre& fibre = *from->fibre;
    fibre.other_ = from;
    fibre.jump_ = &jump_ucontext;
    fibre.run_body();
    leave_ucontext(*static_cast<UFrame*>(fibre.other_));
  }

  // The frames here are not named to the other side: they may lie on a fake stack, which is then gone. The thread
  // sanitizer's fiber is, to be destroyed.
  GASMETER_NOINLINE static void leave_ucontext(UFrame& there) {
    there.arrival = {this_fiber(), nullptr};
    before_switch(there, nullptr);
    setcontext(&there.context);
  }

  // ---- thread: `other_` names the thread for both sides
  struct Thread {
    pthread_t id{};
    std::binary_semaphore in{0};
    std::binary_semaphore out{0};
    Fibre* fibre = nullptr;
  };

  static Arrival jump_thread(void* to, void* data) {
    auto& thread = *static_cast<Thread*>(to);
    const bool inwards = data != nullptr;
    (inwards ? thread.in : thread.out).release();
    (inwards ? thread.out : thread.in).acquire();
    return {to, data};
  }

  static Arrival start_thread(void* /*to*/, void* data) {
    auto& fibre = *static_cast<Fibre*>(data);
    auto thread = std::make_unique<Thread>();
    thread->fibre = &fibre;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    // Thread-local variables of all libraries lie on this stack, too.
    pthread_attr_setstacksize(&attributes, fibre.stacks_.usable() + 256U * 1024U);
    fibre.other_ = thread.get();
    fibre.jump_ = &jump_thread;
    const int error = pthread_create(&thread->id, &attributes, &enter_thread, thread.get());
    pthread_attr_destroy(&attributes);
    if (error != 0) {
      fibre.other_ = nullptr;
      fibre.jump_ = &start_thread;
      errno = error;
      throw_errno("sim: thread of a fibre");
    }
    thread->out.acquire();
    return {thread.release(), data};
  }

  static void* enter_thread(void* argument) {
    auto& thread = *static_cast<Thread*>(argument);
    thread.fibre->run_body();
    thread.out.release();
    return nullptr;
  }

  static void end_thread(Fibre& fibre) {
    const std::unique_ptr<Thread> thread(static_cast<Thread*>(std::exchange(fibre.other_, nullptr)));
    pthread_join(thread->id, nullptr);
  }
};

Fibre::Jump Fibre::Makers::start_of(FibreMaker maker) {
#if GASMETER_ASSEMBLY
  if (maker == FibreMaker::assembly) return &start_assembly;
#endif
#if GASMETER_FCONTEXT
  if (maker == FibreMaker::fcontext) return &start_fcontext;
#endif
  if (maker == FibreMaker::portable) return &start_portable;
  if (maker == FibreMaker::thread) return &start_thread;
  return &start_ucontext;
}

const std::vector<FibreMaker>& available_makers() {
  static const std::vector<FibreMaker> makers = [] {
    std::vector<FibreMaker> list;
    if (GASMETER_ASSEMBLY && !kSanitized) list.push_back(FibreMaker::assembly);
    if (GASMETER_FCONTEXT && !kSanitized) list.push_back(FibreMaker::fcontext);
    if (!kSanitized) list.push_back(FibreMaker::portable);
    list.push_back(FibreMaker::ucontext);
    list.push_back(FibreMaker::thread);
    return list;
  }();
  return makers;
}

FibreMaker require_available(FibreMaker maker) {
  const std::vector<FibreMaker>& makers = available_makers();
  if (maker == FibreMaker::automatic) return makers.front();
  for (const FibreMaker available : makers) {
    if (available == maker) return maker;
  }
  const std::string what = "sim: fibre maker '" + std::string(name(maker)) + "' ";
  if (kSanitized) throw UsageError(what + "cannot be followed by this build's sanitizer; allowed are ucontext, thread");
  if (maker == FibreMaker::fcontext) throw UsageError(what + "is not built in; install libboost-context-dev and build");
  throw UsageError(what + "is not made for this processor");
}

std::string_view name(FibreMaker maker) {
  return kNames.at(static_cast<std::size_t>(maker));
}

FibreMaker parse_fibre_maker(std::string_view text) {
  std::string allowed;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<FibreMaker>(i);
    allowed.append(i == 0 ? "" : ", ").append(kNames[i]);
  }
  throw UsageError("fibre maker '" + std::string(text) + "': allowed are " + allowed);
}

Bytes Fibre::default_stack_bytes() {
  return (kSanitized ? 256U : 64U) * 1024U;
}

Fibre::Fibre(StackPool& stacks, std::function<void()> body, FibreMaker maker)
    : maker_(require_available(maker)), stacks_(stacks), body_(std::move(body)) {
  jump_ = Makers::start_of(maker_);
  if (maker_ != FibreMaker::thread) stack_ = stacks.acquire();
}

Fibre::~Fibre() {
  cancel();
}

void Fibre::run_body() noexcept {
  started_ = true;
  try {
    body_();
  } catch (const Cancelled&) {
  } catch (...) {
    exception_ = std::current_exception();
  }
  finished_ = true;
}

void Fibre::cancel() noexcept {
  cancelled_ = true;
  if (started_ && !finished_) other_ = jump_(other_, this).from;
  finished_ = true;
  if (!retire()) std::fputs("sim: the stack of a cancelled fibre had overflowed into another's\n", stderr);
  exception_ = nullptr;
  body_ = nullptr;
}

// Gives back everything but body and exception. False: the stack had overflowed.
bool Fibre::retire() noexcept {
  if (maker_ == FibreMaker::thread) {
    if (other_ != nullptr) Makers::end_thread(*this);
    return true;
  }
  if (stack_.size == 0) return true;
#if GASMETER_ASAN
  // The last frames never returned: the next user of the stack must not meet their red zones.
  __asan_unpoison_memory_region(stack_.bottom, stack_.size);
#endif
#if GASMETER_TSAN
  if (started_) __tsan_destroy_fiber(other_);
#endif
  return stacks_.release(std::exchange(stack_, {}));
}

void Fibre::after_end() {
  const Bytes size = stack_.size;
  const std::exception_ptr exception = std::exchange(exception_, nullptr);
  if (!retire()) {
    throw ResourceError("sim: a fibre has overflowed its stack of " + std::to_string(size) +
                        " bytes into another's; larger stacks are needed");
  }
  if (exception) std::rethrow_exception(exception);
}

void Fibre::refuse_resume() {
  throw UsageError("sim: a fibre whose body has ended cannot be resumed");
}

void Fibre::throw_cancelled() {
  throw Cancelled{};
}

}  // namespace gasmeter::sim

// The checked longjmp of fortified builds refuses to change stacks, which is all that is done here.
#undef _FORTIFY_SOURCE

#include "gasmeter/sim/fibre.hpp"

#include <setjmp.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"

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

namespace gasmeter::sim {

namespace {

// ucontext makes the stack; makecontext passes ints, so a pointer travels in halves.
void make_context(ucontext_t& context, const Stack& stack, void (*entry)(unsigned, unsigned), void* argument) {
  if (getcontext(&context) != 0) throw_errno("sim: getcontext");
  context.uc_stack.ss_sp = stack.bottom;
  context.uc_stack.ss_size = stack.size;
  context.uc_link = nullptr;
  const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(argument));
  makecontext(&context, reinterpret_cast<void (*)()>(entry), 2, static_cast<unsigned>(bits >> 32),
              static_cast<unsigned>(bits & 0xffffffffU));
}

}  // namespace

#if GASMETER_ASAN || GASMETER_TSAN

// Sanitizers follow swapcontext together with their own notes on which stack is in use.
struct Fibre::Context {
  ucontext_t inside;
  ucontext_t outside;
#if GASMETER_ASAN
  void* fake_inside = nullptr;
  void* fake_outside = nullptr;
  const void* outside_bottom = nullptr;
  std::size_t outside_size = 0;
#endif
#if GASMETER_TSAN
  void* fibre = __tsan_create_fiber(0);
  void* thread = nullptr;
  ~Context() { __tsan_destroy_fiber(fibre); }
#endif
};

GASMETER_NOINLINE void Fibre::switch_in() {
  Context& context = *context_;
  if (!started_) {
    started_ = true;
    make_context(context.inside, stack_, &Fibre::enter, this);
  }
#if GASMETER_ASAN
  __sanitizer_start_switch_fiber(&context.fake_outside, stack_.bottom, stack_.size);
#endif
#if GASMETER_TSAN
  context.thread = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(context.fibre, 0);
#endif
  swapcontext(&context.outside, &context.inside);
#if GASMETER_ASAN
  __sanitizer_finish_switch_fiber(context.fake_outside, nullptr, nullptr);
  // The interceptor of swapcontext would otherwise clear the shadow of live frames at every switch.
  context.inside.uc_stack.ss_size = 0;
#endif
}

GASMETER_NOINLINE void Fibre::switch_out([[maybe_unused]] Leave leave) {
  Context& context = *context_;
#if GASMETER_ASAN
  __sanitizer_start_switch_fiber(leave == Leave::for_good ? nullptr : &context.fake_inside, context.outside_bottom,
                                 context.outside_size);
#endif
#if GASMETER_TSAN
  __tsan_switch_to_fiber(context.thread, 0);
#endif
  swapcontext(&context.inside, &context.outside);
#if GASMETER_ASAN
  __sanitizer_finish_switch_fiber(context.fake_inside, &context.outside_bottom, &context.outside_size);
#endif
}

#else

// After the first entry a switch is a pair of _setjmp and _longjmp: neither touches the signal mask, so neither makes
// a system call.
struct Fibre::Context {
  jmp_buf inside;
  jmp_buf outside;
};

namespace {

[[noreturn]] GASMETER_NOINLINE void enter_first(const Stack& stack, void (*entry)(unsigned, unsigned), void* fibre) {
  ucontext_t context;
  make_context(context, stack, entry, fibre);
  setcontext(&context);
  throw_errno("sim: setcontext");
}

}  // namespace

GASMETER_NOINLINE void Fibre::switch_in() {
  if (_setjmp(context_->outside) != 0) return;
  if (started_) _longjmp(context_->inside, 1);
  started_ = true;
  enter_first(stack_, &Fibre::enter, this);
}

GASMETER_NOINLINE void Fibre::switch_out(Leave leave) {
  if (leave == Leave::for_good || _setjmp(context_->inside) == 0) _longjmp(context_->outside, 1);
}

#endif

Bytes Fibre::default_stack_bytes() {
  return (GASMETER_ASAN || GASMETER_TSAN ? 256U : 64U) * 1024U;
}

Fibre::Fibre(StackPool& stacks, std::function<void()> body)
    : stacks_(stacks), stack_(stacks.acquire()), context_(std::make_unique<Context>()), body_(std::move(body)) {}

Fibre::~Fibre() {
  cancel();
#if GASMETER_ASAN
  // The last frames never returned: the next user of the stack must not meet their red zones.
  __asan_unpoison_memory_region(stack_.bottom, stack_.size);
#endif
  if (!stacks_.release(stack_)) std::fputs("sim: the stack of a fibre had overflowed into another's\n", stderr);
}

void Fibre::enter(unsigned high, unsigned low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32) | low;
  auto* fibre = reinterpret_cast<Fibre*>(static_cast<std::uintptr_t>(bits));
#if GASMETER_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &fibre->context_->outside_bottom, &fibre->context_->outside_size);
#endif
  fibre->run_body();
  fibre->switch_out(Leave::for_good);
}

// All catch blocks are left before the last switch.
void Fibre::run_body() noexcept {
  try {
    body_();
  } catch (const Cancelled&) {
  } catch (...) {
    exception_ = std::current_exception();
  }
  finished_ = true;
}

void Fibre::resume() {
  if (finished_) throw UsageError("sim: a fibre whose body has ended cannot be resumed");
  switch_in();
  if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
}

void Fibre::suspend() {
  if (!cancelled_) switch_out(Leave::to_return);
  if (cancelled_) throw Cancelled{};
}

void Fibre::cancel() noexcept {
  cancelled_ = true;
  if (started_ && !finished_) switch_in();
  finished_ = true;
  exception_ = nullptr;
  body_ = nullptr;
}

}  // namespace gasmeter::sim

// User-level contexts: a rank of a modelled job runs on a stack of its own and gives way without a system call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string_view>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/fibres/stack_pool.hpp"

namespace gasmeter::sim {

// How a fibre is made and how control changes between it and its resumer.
//   automatic  the first of available_makers()
//   assembly   a dozen instructions of this project (x86-64): the quickest
//   portable   _setjmp and _longjmp after a first entry by ucontext
//   ucontext   swapcontext, a system call each; the sanitizers are told of every switch
//   thread     a thread of the system for each fibre, one of which runs at a time: for debuggers. State that is kept
//              by thread (errno, thread_local, exceptions being handled) is then kept by fibre
enum class FibreMaker : std::uint8_t { automatic, assembly, portable, ucontext, thread };

// Return the makers that this build can use, best first. Sanitizers follow ucontext and thread alone.
[[nodiscard]] const std::vector<FibreMaker>& available_makers();
// Return the maker that `automatic` stands for. Throws UsageError, with the reason, where the maker is not available.
[[nodiscard]] FibreMaker require_available(FibreMaker maker);
[[nodiscard]] std::string_view name(FibreMaker maker);
// Parse a maker's name. Throws UsageError with all names; does not ask whether the maker is available.
[[nodiscard]] FibreMaker parse_fibre_maker(std::string_view text);

// Thrown out of suspend() on a fibre that is being cancelled, so that the objects on its stack are destroyed. It is no
// std::exception: a body that handles errors does not catch it.
struct Cancelled {};

// A body on a stack. resume() is called on the main stack, suspend() on the fibre's own stack. Neither may be called
// inside another fibre or inside a catch block (the runtime keeps caught exceptions per thread, not per stack).
//
// Threads may resume a fibre one after another, each ordered after the one before. No maker remembers a thread. A body
// that holds the address of a thread_local variable across suspend() does, and compilers may do so within one function.
class Fibre {
 public:
  // Take a stack at once; the body starts at the first resume(). The pool must outlive the fibre.
  Fibre(StackPool& stacks, std::function<void()> body, FibreMaker maker = FibreMaker::automatic);
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;
  ~Fibre();  // cancels

  // Run the body until it suspends or ends; at its end the stack is given back. Throws the exception that left the
  // body, or ResourceError where the canary tells that the stack overflowed.
  GASMETER_INLINE void resume() {
    if (GASMETER_UNLIKELY(finished_)) refuse_resume();
    other_ = jump_(other_, this).from;
    if (GASMETER_UNLIKELY(finished_)) after_end();
  }
  // Fetch the top of a suspended fibre's stack, for a caller that lets a few other fibres run first. With thousands of
  // fibres a switch waits for this memory.
  GASMETER_INLINE void prefetch() const {
    prefetch_write(other_);
    prefetch_write(static_cast<const std::byte*>(other_) + kCacheLine);
  }
  // Return to resume(). Throws Cancelled, also instead of suspending, once the fibre is cancelled.
  GASMETER_INLINE void suspend() {
    if (GASMETER_LIKELY(!cancelled_)) other_ = jump_(other_, nullptr).from;
    if (GASMETER_UNLIKELY(cancelled_)) throw_cancelled();
  }
  // Unwind a suspended body and end it; what it throws meanwhile is dropped, an overflow is reported on stderr.
  void cancel() noexcept;

  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] bool cancelled() const { return cancelled_; }
  [[nodiscard]] FibreMaker maker() const { return maker_; }

  // 64 KiB; 256 KiB under sanitizers, whose frames are larger.
  [[nodiscard]] static Bytes default_stack_bytes();

 private:
  // The functions of a maker leave the caller's context for another and return when somebody comes back. `to` and
  // `from` name suspended contexts in the maker's own form. `data` is the fibre on the way in, null on the way out.
  // Both members travel between stacks in two registers.
  struct Arrival {
    void* from;
    void* data;
  };
  using Jump = Arrival (*)(void* to, void* data);
  struct Makers;

  void run_body() noexcept;
  [[nodiscard]] bool retire() noexcept;
  void after_end();
  [[noreturn]] static void refuse_resume();
  [[noreturn]] static void throw_cancelled();

  Jump jump_;              // the first call makes the context, then switches
  void* other_ = nullptr;  // the suspended side: the fibre's context seen from outside, its resumer's from inside
  bool started_ = false;
  bool finished_ = false;
  bool cancelled_ = false;
  FibreMaker maker_;
  StackPool& stacks_;
  Stack stack_;  // empty for a thread, and once it is given back
  std::function<void()> body_;
  std::exception_ptr exception_;
};

}  // namespace gasmeter::sim

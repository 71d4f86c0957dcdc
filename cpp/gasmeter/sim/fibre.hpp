// User-level contexts: a rank of a modelled job runs on a stack of its own and gives way without a system call.
#pragma once

#include <exception>
#include <functional>
#include <memory>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/stack_pool.hpp"

namespace gasmeter::sim {

// Thrown out of suspend() on a fibre that is being cancelled, so that what lives on its stack is destroyed. Not a
// std::exception: a body that handles errors does not take it for one.
struct Cancelled {};

// One body on one stack. resume() is called on the main stack, suspend() on the fibre's own; never the one inside the
// other's fibre, and never inside a catch block (the runtime keeps caught exceptions per thread, not per stack).
class Fibre {
 public:
  // Takes a stack at once; the body starts at the first resume(). The pool must outlive the fibre.
  Fibre(StackPool& stacks, std::function<void()> body);
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;
  ~Fibre();  // cancels

  // Runs the body until it suspends or ends. An exception that left the body is thrown here.
  void resume();
  // Back to resume(). Throws Cancelled, also instead of suspending, once the fibre is cancelled.
  void suspend();
  // Unwinds a suspended body and ends it; what it throws meanwhile is dropped.
  void cancel() noexcept;

  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] bool cancelled() const { return cancelled_; }

  // 64 KiB; 256 KiB under sanitizers, whose frames are larger.
  [[nodiscard]] static Bytes default_stack_bytes();

 private:
  struct Context;
  enum class Leave : bool { to_return, for_good };

  static void enter(unsigned high, unsigned low);
  void run_body() noexcept;
  void switch_in();
  void switch_out(Leave leave);

  StackPool& stacks_;
  Stack stack_;
  std::unique_ptr<Context> context_;
  std::function<void()> body_;
  std::exception_ptr exception_;
  bool started_ = false;
  bool finished_ = false;
  bool cancelled_ = false;
};

}  // namespace gasmeter::sim

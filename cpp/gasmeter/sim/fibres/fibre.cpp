#include "gasmeter/sim/fibres/fibre.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/fibres/fibre_makers.hpp"

#if GASMETER_ASAN
#include <sanitizer/asan_interface.h>
#endif
#if GASMETER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace gasmeter::sim {

namespace {

constexpr bool kSanitized = GASMETER_ASAN || GASMETER_TSAN;
constexpr std::array<std::string_view, 5> kNames = {"automatic", "assembly", "portable", "ucontext", "thread"};

}  // namespace

Fibre::Jump Fibre::Makers::start_of(FibreMaker maker) {
#if GASMETER_ASSEMBLY
  if (maker == FibreMaker::assembly) return &start_assembly;
#endif
  if (maker == FibreMaker::portable) return &start_portable;
  if (maker == FibreMaker::thread) return &start_thread;
  return &start_ucontext;
}

const std::vector<FibreMaker>& available_makers() {
  static const std::vector<FibreMaker> makers = [] {
    std::vector<FibreMaker> list;
    if (GASMETER_ASSEMBLY && !kSanitized) list.push_back(FibreMaker::assembly);
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

// Give back everything but body and exception. False: the stack had overflowed.
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

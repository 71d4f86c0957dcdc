// A look at an operation's effect at the instant at which it is reported complete, by other code than reports it.
#pragma once

#include "gasmeter/bench/told.hpp"
#include "gasmeter/core/endpoint.hpp"

namespace gasmeter::kernels {

// One direction of a program's operations, at one rank. In virtual time all ranks live in one process: the initiator
// looks at the target's memory itself. On real ranks the target looks (bench/told.hpp), if ranks share memory to tell
// by; without it nobody looks.
//
// look() compares memory of the target by its owner's addresses. In virtual time it sees what its node's window has
// brought: a put that is reported complete before it has left is always found, one that is early by less than the
// lookahead of the network may not be.
template <class H>
class CompletionCheck {
 public:
  explicit CompletionCheck(core::Endpoint<H>& endpoint) : endpoint_(endpoint) {}

  void tell_by(bench::ToldLine* line) { end_.use(line); }

  // At the initiator, around operations that are checked together.
  void begin() {
    if constexpr (!H::kModelled) end_.begin([this] { (void)endpoint_.poll(); });
  }
  template <class Look>
  void complete(Look look) {
    if constexpr (H::kModelled) {
      endpoint_.host().synchronise();
      look();
    } else {
      end_.complete();
    }
  }
  // At the target, once for each begin().
  template <class Look>
  void watch(Look look) {
    if constexpr (!H::kModelled) end_.watch([this] { (void)endpoint_.poll(); }, look);
  }

 private:
  core::Endpoint<H>& endpoint_;
  bench::ToldEnd end_;
};

}  // namespace gasmeter::kernels

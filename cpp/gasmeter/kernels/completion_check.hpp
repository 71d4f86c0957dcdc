// Checks an operation's effect at the instant at which it is reported complete, by other code than the code that
// reports.
#pragma once

#include "gasmeter/bench/told.hpp"
#include "gasmeter/core/endpoint.hpp"

namespace gasmeter::kernels {

// The operations of one direction of a program, at one rank. In virtual time all ranks live in one process, and the
// initiator itself looks at the target's memory. On real ranks the target looks (bench/told.hpp), if ranks share memory
// by which the initiator can tell it; without such memory nobody looks.
//
// look() compares memory of the target by its owner's addresses. In a window of virtual time nodes run one after the
// other (sim/engine/partition.hpp). A target on a later node, as in all kernels, is then where it was when the window
// began. The look misses nothing early: it sees no more than has come at its instant. If the target has told of a put's
// completion, the data is there, since telling took at least the lookahead. A target on an earlier node, or on another
// thread's node, may be ahead by less than the lookahead. It may hide a put that is early by less than that.
template <class H>
class CompletionCheck {
 public:
  explicit CompletionCheck(core::Endpoint<H>& endpoint) : endpoint_(endpoint) {}

  void tell_by(bench::ToldLine* line) { end_.use(line); }

  // Called at the initiator, around operations that are checked together.
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
  // Called at the target, once for each begin().
  template <class Look>
  void watch(Look look) {
    if constexpr (!H::kModelled) end_.watch([this] { (void)endpoint_.poll(); }, look);
  }

 private:
  core::Endpoint<H>& endpoint_;
  bench::ToldEnd end_;
};

}  // namespace gasmeter::kernels

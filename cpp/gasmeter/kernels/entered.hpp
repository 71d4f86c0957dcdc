// Entered: checks in kernels with barriers that nobody leaves a barrier that another rank has not entered. Every rank
// counts its barriers in a word that others read, and each rank in turn comes late: a rank that does not wait for all
// leaves without it.
#pragma once

#include <cstdint>

#include "gasmeter/bench/barrier_check.hpp"
#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/sleep.hpp"
#include "gasmeter/core/endpoint.hpp"

namespace gasmeter::kernels {

template <class H>
class Entered {
 public:
  // The counting word lies `at` bytes behind the start of the rank's segment.
  explicit Entered(core::Endpoint<H>& endpoint, Bytes at = 0)
      : endpoint_(endpoint), check_(endpoint.ranks()), at_(at) {}

  // Check one barrier. The endpoint's own barrier follows: nobody enters the next one while a peer still reads the
  // counters of this one.
  template <class Barrier>
  void check_one(bench::Verification& verification, Barrier barrier) {
    count();
    barrier();
    look(verification);
    endpoint_.barrier();
  }
  template <class Barrier>
  void check(bench::Verification& verification, Barrier barrier) {
    for (std::uint64_t round = 0; round < check_.rounds(); ++round) check_one(verification, barrier);
  }

 private:
  void count() {
    if (entered_ % endpoint_.ranks() == index(endpoint_.rank())) be_late();
    ++entered_;
    endpoint_.put(endpoint_.rank(), endpoint_.segment().address + at_, &entered_, sizeof entered_);
  }

  // Check, after the barrier, that others have counted what this rank has. A rank that does not look at all others
  // looks at some in equal distances, every time at different ones.
  void look(bench::Verification& verification) {
    const std::uint64_t ranks = endpoint_.ranks();
    const std::uint64_t first = check_.all_look_at_all() ? 0 : index(endpoint_.rank()) + entered_;
    const std::uint64_t looked_at = check_.looked_at();
    for (std::uint64_t i = 0; i < looked_at; ++i) {
      const Rank peer{static_cast<std::uint32_t>((first + i * ranks / looked_at) % ranks)};
      std::uint64_t theirs = 0;
      endpoint_.get(peer, &theirs, endpoint_.segment(peer).address + at_, sizeof theirs);
      ++verification.checked;
      verification.errors += theirs != entered_ ? 1U : 0U;
    }
  }

  // Come late: ranks that have already left can look all the while.
  void be_late() {
    for (int i = 0; i < kPolls; ++i) {
      bench::sleep(endpoint_.host(), SimTime::from_ns(kLate / kPolls));
      (void)endpoint_.poll();
    }
  }

  static constexpr int kPolls = 8;
  static constexpr double kLate = 100e3;  // ns: many times the length of a barrier

  core::Endpoint<H>& endpoint_;
  bench::BarrierCheck check_;
  Bytes at_;
  std::uint64_t entered_ = 0;
};

}  // namespace gasmeter::kernels

// How kernels of barriers see that nobody leaves one that another rank has not entered: every rank counts its barriers
// in a word that others read, and each comes late in its turn: one that does not wait for all leaves without it.
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
  // The word is the first of the rank's segment.
  explicit Entered(core::Endpoint<H>& endpoint) : endpoint_(endpoint), check_(endpoint.ranks()) {}

  [[nodiscard]] std::uint64_t rounds() const { return check_.rounds(); }

  void count() {
    if (entered_ % endpoint_.ranks() == index(endpoint_.rank())) be_late();
    ++entered_;
    endpoint_.put(endpoint_.rank(), endpoint_.segment().address, &entered_, sizeof entered_);
  }

  // After the barrier: what others have counted is what this rank has. Who does not look at all looks at equal
  // distances, and at others every time.
  void look(bench::Verification& verification) {
    const std::uint64_t ranks = endpoint_.ranks();
    const std::uint64_t first = check_.all_look_at_all() ? 0 : index(endpoint_.rank()) + entered_;
    const std::uint64_t looked_at = check_.looked_at();
    for (std::uint64_t i = 0; i < looked_at; ++i) {
      const Rank peer{static_cast<std::uint32_t>((first + i * ranks / looked_at) % ranks)};
      std::uint64_t theirs = 0;
      endpoint_.get(peer, &theirs, endpoint_.segment(peer).address, sizeof theirs);
      ++verification.checked;
      verification.errors += theirs != entered_ ? 1U : 0U;
    }
  }

 private:
  // Others that have left already can look all the while.
  void be_late() {
    for (int i = 0; i < kPolls; ++i) {
      bench::sleep(endpoint_.host(), SimTime::from_ns(kLate / kPolls));
      (void)endpoint_.poll();
    }
  }

  static constexpr int kPolls = 8;
  static constexpr double kLate = 100e3;  // ns: many times what a barrier takes

  core::Endpoint<H>& endpoint_;
  bench::BarrierCheck check_;
  std::uint64_t entered_ = 0;
};

}  // namespace gasmeter::kernels

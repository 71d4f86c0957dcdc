// How kernels of barriers see that nobody leaves one that another rank has not entered: every rank counts its barriers
// in a word that others read, and each comes late in its turn: one that does not wait for all leaves without it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/sleep.hpp"

namespace gasmeter::kernels {

// How much a verification of barriers looks at. Of few ranks all look at all in every round; of many each looks at
// some, and of thousands in fewer rounds at fewer: a verification costs about what a block of one barrier does, or it
// would outlast what it verifies by far.
class BarrierCheck {
 public:
  explicit BarrierCheck(std::uint64_t ranks) : ranks_(ranks) {}

  [[nodiscard]] std::uint64_t rounds() const {
    return all_look_at_all() ? kRounds : std::clamp<std::uint64_t>(kLooks / (kLookedAt * ranks_), 1, kRounds);
  }
  // By each rank in a round.
  [[nodiscard]] std::uint64_t looked_at() const {
    return all_look_at_all() ? ranks_ : std::clamp<std::uint64_t>(kLooks / ranks_, 1, kLookedAt);
  }
  [[nodiscard]] bool all_look_at_all() const { return ranks_ <= kAllLookAtAll; }

 private:
  static constexpr std::uint64_t kRounds = 8;
  static constexpr std::uint64_t kAllLookAtAll = 64;  // ranks
  static constexpr std::uint64_t kLookedAt = 8;       // by each of more, at most
  static constexpr std::uint64_t kLooks = 16 * 1024;  // of all of more together; every one at least once

  std::uint64_t ranks_;
};

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
  void look(Verification& found) {
    const std::uint64_t ranks = endpoint_.ranks();
    const std::uint64_t first = check_.all_look_at_all() ? 0 : index(endpoint_.rank()) + entered_;
    const std::uint64_t looked_at = check_.looked_at();
    for (std::uint64_t i = 0; i < looked_at; ++i) {
      const Rank peer{static_cast<std::uint32_t>((first + i * ranks / looked_at) % ranks)};
      std::uint64_t theirs = 0;
      endpoint_.get(peer, &theirs, endpoint_.segment(peer).address, sizeof theirs);
      ++found.checked;
      found.errors += theirs != entered_ ? 1U : 0U;
    }
  }

 private:
  // Others that have left already can look all the while.
  void be_late() {
    for (int i = 0; i < kPolls; ++i) {
      sleep(endpoint_.host(), SimTime::from_ns(kLate / kPolls));
      (void)endpoint_.poll();
    }
  }

  static constexpr int kPolls = 8;
  static constexpr double kLate = 100e3;  // ns: many times what a barrier takes

  core::Endpoint<H>& endpoint_;
  BarrierCheck check_;
  std::uint64_t entered_ = 0;
};

}  // namespace gasmeter::kernels

// How much a verification of barriers looks at, by conduits and raw alike.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gasmeter::bench {

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

}  // namespace gasmeter::bench

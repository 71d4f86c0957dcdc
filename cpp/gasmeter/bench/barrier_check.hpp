// Size of a verification of barriers, by conduits and raw programs alike.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gasmeter::bench {

// How much a verification of barriers looks at. With few ranks all look at all others in every round. With many, each
// looks at some; with thousands, at fewer in fewer rounds. The verification then costs about as much as a block of one
// barrier; otherwise it would outlast by far what it verifies.
class BarrierCheck {
 public:
  explicit BarrierCheck(std::uint64_t ranks) : ranks_(ranks) {}

  [[nodiscard]] std::uint64_t rounds() const {
    return all_look_at_all() ? kRounds : std::clamp<std::uint64_t>(kLooks / (kLookedAt * ranks_), 1, kRounds);
  }
  // Return how many ranks each rank looks at in a round.
  [[nodiscard]] std::uint64_t looked_at() const {
    return all_look_at_all() ? ranks_ : std::clamp<std::uint64_t>(kLooks / ranks_, 1, kLookedAt);
  }
  [[nodiscard]] bool all_look_at_all() const { return ranks_ <= kAllLookAtAll; }

 private:
  static constexpr std::uint64_t kRounds = 8;
  static constexpr std::uint64_t kAllLookAtAll = 64;  // ranks
  static constexpr std::uint64_t kLookedAt = 8;       // by each rank, with more ranks, at most
  static constexpr std::uint64_t kLooks = 16 * 1024;  // by more ranks, all together; each looks at least once

  std::uint64_t ranks_;
};

}  // namespace gasmeter::bench

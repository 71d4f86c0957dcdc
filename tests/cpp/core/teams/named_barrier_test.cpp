#include "gasmeter/core/teams/named_barrier.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

namespace gasmeter::core::teams::named_barrier_test {
namespace {

using State = BarrierName::State;

const BarrierName kAnonymous = BarrierName::of(0, BarrierFlags::anonymous);
const BarrierName kMismatch = BarrierName::of(0, BarrierFlags::mismatch);

BarrierName named(std::int32_t id) {
  return BarrierName::of(id, BarrierFlags::named);
}

TEST_CASE("flags_make_names") {
  CHECK(named(3) == BarrierName{State::named, 3});
  CHECK(kAnonymous.state == State::anonymous);
  CHECK(BarrierName::of(3, BarrierFlags::unnamed).state == State::anonymous);
  CHECK(BarrierName::of(3, BarrierFlags::mismatch).state == State::mismatch);
}

// Merging is independent of order, grouping and repetition. Dissemination over a number of ranks that is no power of
// two merges some names twice.
TEST_CASE("merging_is_commutative_associative_and_idempotent") {
  const std::vector<BarrierName> all{kAnonymous, kMismatch, named(0), named(1), named(-1)};
  for (const BarrierName& a : all) {
    CHECK(a.merged(a) == a);
    for (const BarrierName& b : all) {
      CHECK(a.merged(b) == b.merged(a));
      for (const BarrierName& c : all) CHECK(a.merged(b).merged(c) == a.merged(b.merged(c)));
    }
  }
}

TEST_CASE("merging_follows_the_table") {
  CHECK(kAnonymous.merged(named(5)) == named(5));
  CHECK(named(5).merged(named(6)).state == State::mismatch);
  CHECK(named(5).merged(kAnonymous).merged(named(6)).state == State::mismatch);
  CHECK(kMismatch.merged(kAnonymous).state == State::mismatch);
}

TEST_CASE("results_follow_the_table") {
  constexpr auto kOk = BarrierResult::ok;
  constexpr auto kBad = BarrierResult::mismatch;
  struct Row {
    BarrierName all, notified, waited;
    BarrierResult result;
  };
  const std::array rows{
      Row{kAnonymous, kAnonymous, kAnonymous, kOk}, Row{named(1), named(1), named(1), kOk},
      Row{named(1), kAnonymous, kAnonymous, kOk},   Row{kMismatch, named(1), named(1), kBad},
      Row{kMismatch, kAnonymous, kAnonymous, kBad}, Row{named(1), named(1), named(2), kBad},
      Row{named(1), named(1), kAnonymous, kOk},     Row{named(1), kAnonymous, named(1), kOk},
      Row{named(1), kAnonymous, named(2), kBad},    Row{kAnonymous, kAnonymous, named(2), kOk},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    CHECK(barrier_result(rows[i].all, rows[i].notified, rows[i].waited) == rows[i].result);
  }
}

}  // namespace
}  // namespace gasmeter::core::teams::named_barrier_test

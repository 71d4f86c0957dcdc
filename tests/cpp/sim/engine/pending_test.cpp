#include "gasmeter/sim/engine/pending.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <set>
#include <utility>

namespace gasmeter::sim::pending_test {
namespace {

using Key = std::pair<std::int64_t, Tie>;

TEST_CASE("what_is_pending_comes_in_order_whether_it_is_few_or_many") {
  std::mt19937_64 random(3);
  for (const std::uint64_t most : {1U, 4U, 25U, 60U, 1000U}) {
    for (const std::int64_t spread : {1, 50, 100'000}) {  // many ties, some, none
      CAPTURE(most);
      CAPTURE(spread);
      PendingEvents pending;
      std::set<Key> model;
      std::int64_t now = 0;
      Tie tie = 0;
      int wrong = 0;
      bool grows = true;  // to `most` and back to none, again and again
      for (int step = 0; step < 20'000; ++step) {
        if (model.size() >= most) grows = false;
        if (model.empty()) grows = true;
        if (random() % 4 == 0 ? !grows : grows) {
          const std::int64_t at = now + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spread));
          const Tie posted_tie = random() % 2 == 0 ? ++tie : (std::uint64_t{1} << 40U) - ++tie;
          pending.push({at, posted_tie, nullptr});
          model.emplace(at, posted_tie);
        } else if (!model.empty()) {
          const Pending first = pending.pop();
          wrong += Key(first.at, first.tie) != *model.begin() ? 1 : 0;
          now = first.at;
          model.erase(model.begin());
        }
        wrong += pending.empty() != model.empty() ? 1 : 0;
        wrong += pending.all().size() != model.size() ? 1 : 0;
        if (!model.empty()) wrong += Key(pending.front().at, pending.front().tie) != *model.begin() ? 1 : 0;
      }
      CHECK(wrong == 0);
      pending.clear();
      CHECK(pending.empty());
    }
  }
}

}  // namespace
}  // namespace gasmeter::sim::pending_test

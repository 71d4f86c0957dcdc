#include "gasmeter/networks/aries/request_slots.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <set>
#include <vector>

namespace gasmeter::networks::aries::request_slots_test {
namespace {

constexpr Rank kPeer{5};

TEST_CASE("aries_slots_of_a_message_follow_each_other_and_do_not_go_round_the_end") {
  RequestSlots slots(48);
  for (const unsigned first : {0U, 16U, 32U}) CHECK(slots.take(kPeer, 16) == std::optional<unsigned>(first));
  CHECK_FALSE(slots.take(kPeer, 1).has_value());
  slots.give(kPeer, 40, 8);
  slots.give(kPeer, 0, 8);
  CHECK(slots.used(kPeer) == 32);
  CHECK_FALSE(slots.take(kPeer, 9).has_value());  // sixteen are free, eight at either end
  CHECK(slots.used(kPeer) == 32);
  CHECK(slots.take(kPeer, 3) == std::optional<unsigned>(0));
  CHECK(slots.take(kPeer, 8) == std::optional<unsigned>(40));
  CHECK(slots.take(kPeer, 5) == std::optional<unsigned>(3));
  CHECK(slots.used(kPeer) == 48);
}

TEST_CASE("aries_slots_are_kept_for_each_peer") {
  RequestSlots slots(48);
  CHECK(slots.take(kPeer, 48).has_value());
  CHECK(slots.take(Rank{6}, 48).has_value());
  CHECK(slots.used(Rank{7}) == 0);
  CHECK(slots.peers() == 2);
  slots.give(kPeer, 0, 48);
  CHECK(slots.used(kPeer) == 0);
  CHECK(slots.used(Rank{6}) == 48);
}

// The reference is a set of slots in use. The map of an area has one word or several.
TEST_CASE("aries_slots_are_nobody_elses_while_they_are_taken") {
  for (const unsigned all : {16U, 48U, 64U, 65U, 768U}) {
    CAPTURE(all);
    std::mt19937 random(all);
    RequestSlots slots(all);
    std::set<unsigned> used;
    struct Taken {
      unsigned first;
      unsigned many;
    };
    std::vector<Taken> taken;
    for (int i = 0; i < 2000; ++i) {
      if (random() % 2 == 0) {
        const auto many = static_cast<unsigned>(1 + random() % 16);
        const auto first = slots.take(kPeer, many);
        unsigned free = 0;
        unsigned lowest = all;
        for (unsigned slot = 0; slot < all && lowest == all; ++slot) {
          free = used.count(slot) != 0 ? 0 : free + 1;
          if (free == many) lowest = slot + 1 - many;
        }
        REQUIRE(first.has_value() == (lowest != all));
        if (!first) continue;
        CHECK(*first == lowest);
        for (unsigned slot = *first; slot < *first + many; ++slot) CHECK(used.insert(slot).second);
        taken.push_back({*first, many});
      } else if (!taken.empty()) {
        std::swap(taken[random() % taken.size()], taken.back());
        slots.give(kPeer, taken.back().first, taken.back().many);
        for (unsigned i_slot = 0; i_slot < taken.back().many; ++i_slot) used.erase(taken.back().first + i_slot);
        taken.pop_back();
      }
      CHECK(slots.used(kPeer) == used.size());
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::aries::request_slots_test

// Matching against a plain model: two lists that are searched from their beginning.
#include "gasmeter/services/match_lists.hpp"

#include <doctest/doctest.h>

#include <list>
#include <optional>
#include <random>
#include <vector>

#include "support/effort.hpp"

namespace gasmeter::services::match_lists_test {
namespace {

struct Model {
  struct Receive {
    std::uint32_t slot;
    std::optional<Rank> source;
    std::optional<Tag> tag;
  };
  struct Message {
    std::uint32_t number;
    Rank source;
    Tag tag;
  };
  static bool fits(const Receive& receive, const Message& message) {
    return receive.source.value_or(message.source) == message.source &&
           receive.tag.value_or(message.tag) == message.tag;
  }
  MatchLists::Found post(const Receive& receive) {
    std::uint32_t looked_at = 0;
    for (auto each = messages.begin(); each != messages.end(); ++each) {
      ++looked_at;
      if (!fits(receive, *each)) continue;
      const std::uint32_t number = each->number;
      messages.erase(each);
      return {number, looked_at};
    }
    receives.push_back(receive);
    return {std::nullopt, looked_at};
  }
  MatchLists::Found arrive(const Message& message) {
    std::uint32_t looked_at = 0;
    for (auto each = receives.begin(); each != receives.end(); ++each) {
      ++looked_at;
      if (!fits(*each, message)) continue;
      const std::uint32_t slot = each->slot;
      receives.erase(each);
      return {slot, looked_at};
    }
    messages.push_back(message);
    return {std::nullopt, looked_at};
  }
  std::list<Receive> receives;
  std::list<Message> messages;
};

TEST_CASE("matching_agrees_with_two_plain_lists_whatever_is_posted_and_sent") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t end) { return static_cast<std::uint32_t>(random() % end); };
    MatchLists lists;
    Model model;
    std::vector<std::uint32_t> spare_slots;
    std::vector<std::uint32_t> spare_numbers;
    std::uint32_t slots = 0;
    std::uint32_t numbers = 0;
    const auto take = [](std::vector<std::uint32_t>& spare, std::uint32_t& used) {
      if (spare.empty()) return used++;
      const std::uint32_t number = spare.back();
      spare.pop_back();
      return number;
    };
    std::uint64_t matched = 0;
    const std::uint32_t bias = 30 + below(40);  // probability that lets one of the lists grow
    const std::uint64_t steps = testing::rounds(3000);
    for (std::uint64_t step = 0; step < steps; ++step) {
      MatchLists::Found match;
      MatchLists::Found expected;
      if (below(100) < bias) {
        Model::Receive receive{take(spare_slots, slots), Rank{below(4)}, Tag{below(3) * 0x7fffffffU}};
        if (below(4) == 0) receive.source.reset();
        if (below(4) == 0) receive.tag.reset();
        match = lists.post(receive.slot, receive.source, receive.tag);
        expected = model.post(receive);
        if (match.which) {
          spare_slots.push_back(receive.slot);
          spare_numbers.push_back(*match.which);
        }
      } else {
        const Model::Message message{take(spare_numbers, numbers), Rank{below(4)}, Tag{below(3) * 0x7fffffffU}};
        match = lists.arrive(message.number, message.source, message.tag);
        expected = model.arrive(message);
        if (match.which) {
          spare_numbers.push_back(message.number);
          spare_slots.push_back(*match.which);
        }
      }
      REQUIRE(match.which == expected.which);
      REQUIRE(match.looked_at == expected.looked_at);
      REQUIRE(lists.posted() == model.receives.size());
      REQUIRE(lists.unexpected() == model.messages.size());
      matched += match.which ? 1U : 0U;
    }
    CHECK(matched > steps / 10);
  }
}

TEST_CASE("wildcards_take_the_earliest_and_are_taken_in_their_order") {
  MatchLists lists;
  CHECK_FALSE(lists.arrive(0, Rank{2}, Tag{7}).which);
  CHECK_FALSE(lists.arrive(1, Rank{1}, Tag{8}).which);
  CHECK(lists.post(0, std::nullopt, Tag{8}).which == 1);
  CHECK(lists.post(0, std::nullopt, std::nullopt).which == 0);
  CHECK_FALSE(lists.post(3, std::nullopt, Tag{8}).which);
  CHECK_FALSE(lists.post(2, Rank{1}, Tag{8}).which);
  const MatchLists::Found match = lists.arrive(0, Rank{1}, Tag{8});
  CHECK(match.which == 3);
  CHECK(match.looked_at == 1);
  CHECK(lists.arrive(0, Rank{1}, Tag{8}).which == 2);
}

}  // namespace
}  // namespace gasmeter::services::match_lists_test

#include "gasmeter/services/match_lists.hpp"

namespace gasmeter::services {

MatchLists::Found MatchLists::post(std::uint32_t slot, std::optional<Rank> source, std::optional<Tag> tag) {
  constexpr std::uint32_t kAll = ~std::uint32_t{0};
  const Key key{word_of(source ? index(*source) : 0, tag ? static_cast<std::uint32_t>(*tag) : 0),
                word_of(source ? kAll : 0, tag ? kAll : 0)};
  const Found match = messages_.take_first_like(key);
  if (!match.which) receives_.append(slot, key);
  return match;
}

MatchLists::Found MatchLists::arrive(std::uint32_t message, Rank source, Tag tag) {
  const Key key{.word = word_of(index(source), static_cast<std::uint32_t>(tag))};
  const Found match = receives_.take_first_like(key);
  if (!match.which) messages_.append(message, key);
  return match;
}

void MatchLists::List::append(std::uint32_t number, const Key& key) {
  if (number >= elements.size()) elements.resize(number + std::size_t{1});
  elements[number] = {key, kEnd};
  (last == kEnd ? first : elements[last].next) = number;
  last = number;
  ++count;
}

MatchLists::Found MatchLists::List::take_first_like(const Key& key) {
  Found match;
  std::uint32_t before = kEnd;
  for (std::uint32_t number = first; number != kEnd; before = number, number = elements[number].next) {
    const Element& element = elements[number];
    ++match.looked_at;
    if (((element.key.word ^ key.word) & element.key.mask & key.mask) != 0) continue;
    (before == kEnd ? first : elements[before].next) = element.next;
    if (last == number) last = before;
    --count;
    match.which = number;
    break;
  }
  return match;
}

}  // namespace gasmeter::services

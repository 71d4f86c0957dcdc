#include "gasmeter/services/match_lists.hpp"

namespace gasmeter::services {

MatchLists::Found MatchLists::post(std::uint32_t slot, std::optional<Rank> source, std::optional<Tag> tag) {
  Key key;
  key.source = source ? index(*source) : 0;
  key.source_mask = source ? ~std::uint32_t{0} : 0;
  key.tag = tag ? static_cast<std::uint32_t>(*tag) : 0;
  key.tag_mask = tag ? ~std::uint32_t{0} : 0;
  const Found found = messages_.take_first_like(key);
  if (!found.which) receives_.append(slot, key);
  return found;
}

MatchLists::Found MatchLists::arrive(std::uint32_t message, Rank source, Tag tag) {
  Key key;
  key.source = index(source);
  key.tag = static_cast<std::uint32_t>(tag);
  const Found found = receives_.take_first_like(key);
  if (!found.which) messages_.append(message, key);
  return found;
}

void MatchLists::List::append(std::uint32_t number, const Key& key) {
  if (number >= elements.size()) elements.resize(number + std::size_t{1});
  elements[number] = {key, kEnd};
  (last == kEnd ? first : elements[last].next) = number;
  last = number;
  ++count;
}

MatchLists::Found MatchLists::List::take_first_like(const Key& key) {
  Found found;
  std::uint32_t before = kEnd;
  for (std::uint32_t number = first; number != kEnd; before = number, number = elements[number].next) {
    const Element& element = elements[number];
    ++found.looked_at;
    const std::uint32_t source_differs = (element.key.source ^ key.source) & element.key.source_mask & key.source_mask;
    const std::uint32_t tag_differs = (element.key.tag ^ key.tag) & element.key.tag_mask & key.tag_mask;
    if ((source_differs | tag_differs) != 0) continue;
    (before == kEnd ? first : elements[before].next) = element.next;
    if (last == number) last = before;
    --count;
    found.which = number;
    break;
  }
  return found;
}

}  // namespace gasmeter::services

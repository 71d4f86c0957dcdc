// Checks that a name is declared only once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"

namespace gasmeter::bench {

// Throw UsageError for a name that two items have, with what each says of itself. `what`: "network ideal: parameter".
template <class Item>
void check_once(const std::vector<Item>& items, const std::string& what, std::string Item::* name) {
  std::map<std::string, const Item*> seen;
  for (const Item& item : items) {
    const auto [place, is_new] = seen.emplace(item.*name, &item);
    if (is_new) continue;
    throw UsageError(what + " '" + item.*name + "' is declared twice: as \"" + place->second->summary + "\" and as \"" +
                     item.summary + "\"");
  }
}

}  // namespace gasmeter::bench

// Matching of messages and receives: the posted receives and the unexpected messages.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/services/two_sided_service.hpp"

namespace gasmeter::services {

// A message takes the earliest posted receive that it matches, a receive the earliest message. Both lists are searched
// from their beginning, as in MPI libraries. The cost of a search is the number of elements inspected.
//
// The caller numbers receives and messages. The numbers should be small, since the lists keep an element for each
// number.
class MatchLists {
 public:
  struct Found {
    std::optional<std::uint32_t> which;  // the partner, which leaves its list; none: the new element waits in its list
    std::uint32_t looked_at = 0;         // elements inspected
  };

  // Post a receive of `tag` from `source` (none: any); return the message that it matches.
  [[nodiscard]] Found post(std::uint32_t slot, std::optional<Rank> source, std::optional<Tag> tag);
  // Add an arrived message; return the receive that it matches.
  [[nodiscard]] Found arrive(std::uint32_t message, Rank source, Tag tag);

  [[nodiscard]] std::uint32_t posted() const { return receives_.count; }
  [[nodiscard]] std::uint32_t unexpected() const { return messages_.count; }

 private:
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  // Source and tag in one word, and the mask of the bits that count. Wildcards have a mask of 0.
  struct Key {
    std::uint64_t word = 0;
    std::uint64_t mask = ~std::uint64_t{0};
  };
  [[nodiscard]] static std::uint64_t word_of(std::uint32_t source, std::uint32_t tag) {
    return std::uint64_t{source} << 32U | tag;
  }
  struct Element {
    Key key;
    std::uint32_t next = kEnd;
  };
  struct List {
    std::vector<Element> elements;  // by number
    std::uint32_t first = kEnd;
    std::uint32_t last = kEnd;
    std::uint32_t count = 0;

    void append(std::uint32_t number, const Key& key);
    [[nodiscard]] Found take_first_like(const Key& key);
  };

  List receives_;
  List messages_;
};

}  // namespace gasmeter::services

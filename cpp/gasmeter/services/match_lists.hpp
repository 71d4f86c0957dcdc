// Which message goes into which receive: the posted receives and the messages that nobody has asked for yet.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/services/two_sided_service.hpp"

namespace gasmeter::services {

// A message takes the earliest posted receive that it matches, a receive the earliest message. Both lists are searched
// from their begin, as MPI libraries have done it: what a search costs is how many elements it looked at.
//
// Receives and messages are numbers of whoever keeps them, small ones: what has been made of them is used again.
class MatchLists {
 public:
  struct Found {
    std::optional<std::uint32_t> which;  // the partner, which is forgotten; none: the newcomer waits in its list
    std::uint32_t looked_at = 0;         // elements
  };

  // A receive of `tag` or of any, from `source` or from anybody; finds a message.
  [[nodiscard]] Found post(std::uint32_t slot, std::optional<Rank> source, std::optional<Tag> tag);
  // Finds a receive.
  [[nodiscard]] Found arrive(std::uint32_t message, Rank source, Tag tag);

  [[nodiscard]] std::uint32_t posted() const { return receives_.count; }
  [[nodiscard]] std::uint32_t unexpected() const { return messages_.count; }

 private:
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  // Source and tag in one word, and which of its bits matter: none of what is a wildcard.
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

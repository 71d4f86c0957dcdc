// The words of host memory that a card keeps at hand for its atomic operations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::services {

// Of so many words; what has been named least lately goes first. A word that goes is written back, and one that waits
// for an operation stays until that is done: no more words are on their way than there are places.
class WordCache {
 public:
  explicit WordCache(unsigned words) : most_(words) {}

  [[nodiscard]] bool exists() const { return most_ != 0; }

  // When the word is there for an operation that comes at `at`. fetch(from): when one is that is asked for then;
  // write_back(from): one goes.
  template <class Fetch, class WriteBack>
  [[nodiscard]] SimTime ready(const std::byte* word, SimTime at, Fetch&& fetch, WriteBack&& write_back) {
    const auto found = std::find_if(places_.rbegin(), places_.rend(), [&](const Place& p) { return p.word == word; });
    if (found != places_.rend()) {
      if (found != places_.rbegin()) std::rotate(found.base() - 1, found.base(), places_.end());
      return std::max(at, places_.back().ready);
    }
    SimTime from = at;
    if (places_.size() == most_) {
      from = std::max(at, places_.front().done);
      write_back(from);
      places_.erase(places_.begin());
    }
    places_.push_back({word, fetch(from), {}});
    return places_.back().ready;
  }
  // That operation, the last one that was asked about, is done at `done`.
  void hold(SimTime done) { places_.back().done = done; }

 private:
  struct Place {
    const std::byte* word;
    SimTime ready;
    SimTime done;
  };
  unsigned most_;
  std::vector<Place> places_;  // the one that was named last is the last one
};

}  // namespace gasmeter::services

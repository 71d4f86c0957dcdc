// Cache of words of host memory that a card keeps for its atomic operations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::services {

// The cache evicts the word named least recently, and writes it back. A word that waits for an operation stays until
// that is done. No more words are in transit than there are places.
class WordCache {
 public:
  explicit WordCache(unsigned words) : most_(words) {}

  [[nodiscard]] bool exists() const { return most_ != 0; }

  // Return when the word is available for an operation that arrives at `at`. fetch(from) returns when a word requested
  // at `from` is there; write_back(from) evicts a word at `from`.
  template <class Fetch, class WriteBack>
  [[nodiscard]] SimTime ready(const std::byte* word, SimTime at, Fetch&& fetch, WriteBack&& write_back) {
    const auto place = std::find_if(places_.rbegin(), places_.rend(), [&](const Place& p) { return p.word == word; });
    if (place != places_.rend()) {
      if (place != places_.rbegin()) std::rotate(place.base() - 1, place.base(), places_.end());
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
  // Note that the operation of the last ready() is done at `done`.
  void hold(SimTime done) { places_.back().done = done; }

 private:
  struct Place {
    const std::byte* word;
    SimTime ready;
    SimTime done;
  };
  unsigned most_;
  std::vector<Place> places_;  // in order of use, the latest last
};

}  // namespace gasmeter::services

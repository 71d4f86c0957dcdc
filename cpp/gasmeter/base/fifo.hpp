// Queue whose memory is reused once it is empty. Most polls find few entries or none.
#pragma once

#include <cstddef>
#include <vector>

namespace gasmeter {

template <class T>
class Fifo {
 public:
  [[nodiscard]] bool empty() const { return first_ == entries_.size(); }
  void push(const T& entry) { entries_.push_back(entry); }
  // Take the first entry of a queue that is not empty.
  [[nodiscard]] T pop() {
    const T entry = entries_[first_];
    if (++first_ == entries_.size()) {
      entries_.clear();
      first_ = 0;
    }
    return entry;
  }

 private:
  std::vector<T> entries_;  // entries before first_ have been taken
  std::size_t first_ = 0;
};

}  // namespace gasmeter

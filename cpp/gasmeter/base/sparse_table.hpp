// Table from small numbers to values, for instance by peer rank, of which few entries may ever be used. A look-up
// takes two loads. A hash table of half a million entries misses the caches more often.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gasmeter {

template <typename T>
class SparseTable {
 public:
  // Return the entry, which keeps its address. The first use of an entry makes all entries of its page.
  [[nodiscard]] T& operator[](std::size_t number) {
    const std::size_t page = number / kPage;
    if (page >= pages_.size()) pages_.resize(page + 1);
    std::unique_ptr<Page>& entries = pages_[page];
    if (entries == nullptr) entries = std::make_unique<Page>();
    return (*entries)[number % kPage];
  }

  // Visit entries in the order of their numbers. Unused entries of a page in use are visited, too, as they were made.
  template <typename See>
  void for_each(See see) const {
    for (const std::unique_ptr<Page>& page : pages_) {
      if (page == nullptr) continue;
      for (const T& each : *page) see(each);
    }
  }

 private:
  static constexpr std::size_t kPage = 32;
  using Page = std::array<T, kPage>;

  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace gasmeter

// Something for each of many small numbers, of which few may ever be named: peers of a rank, for instance. Looking one
// up takes two loads; hashing half a million of them misses the caches more often.
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
  // Made when first named, with those that share its page. It stays where it is.
  [[nodiscard]] T& operator[](std::size_t number) {
    const std::size_t page = number / kPage;
    if (page >= pages_.size()) pages_.resize(page + 1);
    std::unique_ptr<Page>& found = pages_[page];
    if (found == nullptr) found = std::make_unique<Page>();
    return (*found)[number % kPage];
  }

  // In the order of their numbers; those of a page that none has named are as they were made.
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

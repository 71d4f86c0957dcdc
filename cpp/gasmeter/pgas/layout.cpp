#include "gasmeter/pgas/layout.hpp"

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::pgas {

Layout::Layout(std::uint64_t elements, Bytes element, std::uint64_t block, std::uint32_t ranks)
    : elements_(elements), element_(element), block_(block == 0 ? elements : block), ranks_(ranks) {
  if (elements == 0 || element == 0 || ranks == 0) {
    throw UsageError("shared array of " + std::to_string(elements) + " elements of " + std::to_string(element) +
                     " bytes over " + std::to_string(ranks) + " ranks: each is 1 or more");
  }
  if (block_ > elements_) block_ = elements_;
  const std::uint64_t blocks = (elements_ - 1) / block_ + 1;
  const std::uint64_t most = (blocks - 1) / ranks_ + 1;  // blocks of a rank
  (void)checked_product("shared array: elements times bytes of each", elements, element);
  part_ = checked_product("shared array: bytes of a rank's part",
                          checked_product("shared array: elements of a rank's part", most, block_), element);
}

std::uint64_t Layout::count(Rank rank) const {
  const std::uint64_t blocks = elements_ / block_;  // whole blocks
  const std::uint64_t rest = elements_ % block_;
  const std::uint64_t whole = blocks / ranks_ + (index(rank) < blocks % ranks_ ? 1 : 0);
  return whole * block_ + (rest != 0 && blocks % ranks_ == index(rank) ? rest : 0);
}

void refuse_elements(std::uint64_t i, std::uint64_t many, const Layout& layout) {
  throw UsageError("shared array: " + std::to_string(many) + " elements from element " + std::to_string(i) +
                   " on; it has " + std::to_string(layout.elements()) + " elements");
}

}  // namespace gasmeter::pgas

// Where the elements of a shared array lie: blocks are dealt to ranks in turn [UPC: block-cyclic].
#pragma once

#include <cstdint>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::pgas {

// Element i is the phase-th of its block; blocks of a rank lie one behind the other in its part.
class Layout {
 public:
  // `block`: elements, 1 or more; 0: the whole array in one block, at rank 0. Throws UsageError for no elements, for
  // elements of no bytes, and for an array or a part of more than kMostBytes.
  Layout(std::uint64_t elements, Bytes element, std::uint64_t block, std::uint32_t ranks);
  // One block for each rank, as even as can be [UPC: layout *].
  [[nodiscard]] static Layout blocked(std::uint64_t elements, Bytes element, std::uint32_t ranks) {
    return {elements, element, portions(elements, ranks), ranks};
  }

  [[nodiscard]] std::uint64_t elements() const { return elements_; }
  [[nodiscard]] Bytes element() const { return element_; }
  [[nodiscard]] std::uint64_t block() const { return block_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }

  [[nodiscard]] Rank owner(std::uint64_t i) const { return Rank{static_cast<std::uint32_t>(i / block_ % ranks_)}; }
  [[nodiscard]] std::uint64_t phase(std::uint64_t i) const { return i % block_; }
  // Its number in its owner's part, and where that is there.
  [[nodiscard]] std::uint64_t local(std::uint64_t i) const { return i / block_ / ranks_ * block_ + i % block_; }
  [[nodiscard]] Bytes offset(std::uint64_t i) const { return local(i) * element_; }
  // The element that is the local-th of a rank's part.
  [[nodiscard]] std::uint64_t element_of(Rank rank, std::uint64_t local) const {
    return (local / block_ * ranks_ + index(rank)) * block_ + local % block_;
  }
  // How many elements a rank has.
  [[nodiscard]] std::uint64_t count(Rank rank) const;
  // From element i on, so many lie side by side in its owner's part: to the end of the block, or of the array.
  [[nodiscard]] std::uint64_t run(std::uint64_t i) const {
    const std::uint64_t rest = block_ - i % block_;
    return rest < elements_ - i ? rest : elements_ - i;
  }
  // Bytes of all elements.
  [[nodiscard]] Bytes bytes() const { return elements_ * element_; }
  // What every rank sets aside, the same everywhere.
  [[nodiscard]] Bytes part() const { return part_; }

  bool operator==(const Layout&) const = default;

 private:
  std::uint64_t elements_;
  Bytes element_;
  std::uint64_t block_;
  std::uint32_t ranks_;
  Bytes part_;
};

// Throws: elements [i, i + many) are not all there.
[[noreturn]] void refuse_elements(std::uint64_t i, std::uint64_t many, const Layout& layout);

}  // namespace gasmeter::pgas

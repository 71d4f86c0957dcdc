// Places of the elements of a shared array: blocks are dealt to ranks in turn [UPC: block-cyclic].
#pragma once

#include <cstdint>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::pgas {

// Element i is the phase(i)-th of its block. The blocks of a rank follow each other in its part.
class Layout {
 public:
  // `block` is a number of elements, 1 or more; 0: one block at rank 0 holds the whole array. Throw UsageError for no
  // elements, for elements of no bytes, and for an array or a part of more than kMostBytes.
  Layout(std::uint64_t elements, Bytes element, std::uint64_t block, std::uint32_t ranks);
  // Return a layout of one block per rank, as even as possible [UPC: layout *].
  [[nodiscard]] static Layout blocked(std::uint64_t elements, Bytes element, std::uint32_t ranks) {
    return {elements, element, portions(elements, ranks), ranks};
  }

  [[nodiscard]] std::uint64_t elements() const { return elements_; }
  [[nodiscard]] Bytes element() const { return element_; }
  [[nodiscard]] std::uint64_t block() const { return block_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }

  [[nodiscard]] Rank owner(std::uint64_t i) const { return Rank{static_cast<std::uint32_t>(i / block_ % ranks_)}; }
  [[nodiscard]] std::uint64_t phase(std::uint64_t i) const { return i % block_; }
  // Return the element's number in its owner's part, or its byte offset there.
  [[nodiscard]] std::uint64_t local(std::uint64_t i) const { return i / block_ / ranks_ * block_ + i % block_; }
  [[nodiscard]] Bytes offset(std::uint64_t i) const { return local(i) * element_; }
  // Return the element that is the local-th of a rank's part.
  [[nodiscard]] std::uint64_t element_of(Rank rank, std::uint64_t local) const {
    return (local / block_ * ranks_ + index(rank)) * block_ + local % block_;
  }
  // Return the number of a rank's elements.
  [[nodiscard]] std::uint64_t count(Rank rank) const;
  // Return how many elements from i on follow each other in the owner's part: to the end of the block, or of the
  // array.
  [[nodiscard]] std::uint64_t run(std::uint64_t i) const {
    const std::uint64_t rest = block_ - i % block_;
    return rest < elements_ - i ? rest : elements_ - i;
  }
  // Return the bytes of all elements.
  [[nodiscard]] Bytes bytes() const { return elements_ * element_; }
  // Return the bytes that every rank reserves, the same at all ranks.
  [[nodiscard]] Bytes part() const { return part_; }

  bool operator==(const Layout&) const = default;

 private:
  std::uint64_t elements_;
  Bytes element_;
  std::uint64_t block_;
  std::uint32_t ranks_;
  Bytes part_;
};

// Throw UsageError: elements [i, i + many) are not all in the array.
[[noreturn]] void refuse_elements(std::uint64_t i, std::uint64_t many, const Layout& layout);

}  // namespace gasmeter::pgas

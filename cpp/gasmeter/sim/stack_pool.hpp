// Stacks of fibres, taken from slabs and reused.
#pragma once

#include <cstddef>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::sim {

// A usable stack; the page below `bottom` is a guard that faults on overflow.
struct Stack {
  std::byte* bottom = nullptr;
  Bytes size = 0;
  [[nodiscard]] std::byte* top() const { return bottom + size; }
};

// Address space is reserved slab by slab, memory becomes resident as a fibre touches it. Not thread-safe: one per
// engine.
class StackPool {
 public:
  // `usable`: bytes of each stack, rounded up to whole pages.
  explicit StackPool(Bytes usable);
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();

  // Throws ResourceError where the machine gives no more memory or mappings.
  [[nodiscard]] Stack acquire();
  void release(Stack stack);

 private:
  struct Slab {
    std::byte* base;
    Bytes bytes;
  };
  void grow();

  Bytes page_;
  Bytes usable_;
  std::vector<Slab> slabs_;
  std::vector<Stack> free_;
  std::size_t made_ = 0;
};

}  // namespace gasmeter::sim

#include "gasmeter/sim/stack_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"

namespace gasmeter::sim {

namespace {

constexpr std::size_t kStacksPerSlab = 64;
// Tops of equally spaced stacks share cache sets; 61 different offsets of a line spread them.
constexpr std::size_t kStaggers = 61;

}  // namespace

StackPool::StackPool(Bytes usable) : page_(static_cast<Bytes>(sysconf(_SC_PAGESIZE))) {
  usable_ = (usable + kStaggers * kCacheLine + page_ - 1) / page_ * page_;
}

StackPool::~StackPool() {
  for (const Slab& slab : slabs_) munmap(slab.base, slab.bytes);
}

Stack StackPool::acquire() {
  if (free_.empty()) grow();
  const Stack stack = free_.back();
  free_.pop_back();
  return stack;
}

void StackPool::release(Stack stack) {
  free_.push_back(stack);
}

void StackPool::grow() {
  const Bytes stride = page_ + usable_;
  const Bytes bytes = stride * kStacksPerSlab;
  free_.reserve(free_.size() + kStacksPerSlab);
  slabs_.reserve(slabs_.size() + 1);
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw_errno("sim: mmap of " + std::to_string(bytes) + " bytes of rank stacks");
  slabs_.push_back({static_cast<std::byte*>(memory), bytes});
  for (std::size_t i = 0; i < kStacksPerSlab; ++i) {
    std::byte* guard = slabs_.back().base + i * stride;
    if (mprotect(guard, page_, PROT_NONE) != 0) {
      throw_errno("sim: guard page of rank stack " + std::to_string(made_) + " (vm.max_map_count limits their number)");
    }
    free_.push_back({guard + page_, usable_ - (made_ % kStaggers) * kCacheLine});
    ++made_;
  }
}

}  // namespace gasmeter::sim

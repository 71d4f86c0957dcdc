#include "gasmeter/sim/fibres/stack_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"

namespace gasmeter::sim {

namespace {

constexpr std::size_t kStacksPerSlab = 64;
// Tops of equally spaced stacks share cache sets; different offsets of whole lines spread them. All offsets lie within
// 1 KiB, so that frames of up to 3 KiB stay in one page of memory; within half of that where packets have room in the
// page.
constexpr std::size_t kStaggers = 16;

constexpr int kInstallGuard = 102;  // MADV_GUARD_INSTALL, which older headers lack

// Limit of guard pages: each splits a mapping in two, and the rest of vm.max_map_count is left to the process.
constexpr std::size_t kMostGuardPages = 16384;
std::atomic<std::size_t> guard_pages_of_process{0};

}  // namespace

StackPool::StackPool(Bytes usable, StackGuard best, Bytes room)
    : page_(static_cast<Bytes>(sysconf(_SC_PAGESIZE))),
      room_((room + kCacheLine - 1) / kCacheLine * kCacheLine),
      usable_((usable + room_ + (kStaggers - 1) * kCacheLine + page_ - 1) / page_ * page_),
      guard_(best) {}

StackPool::~StackPool() {
  for (const Slab& slab : slabs_) munmap(slab.base, slab.bytes);
  guard_pages_of_process -= guard_pages_;
}

Stack StackPool::acquire() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return make();
  const Stack stack = free_.back();
  free_.pop_back();
  return stack;
}

// Make the next stack of the last slab, and its guard: a job of two ranks pays for two of 64.
Stack StackPool::make() {
  if (made_ == slabs_.size() * kStacksPerSlab) grow();
  std::byte* const bottom = bottom_of(made_);
  const Bytes stagger = made_ % (room_ == 0 ? kStaggers : kStaggers / 2) * kCacheLine;
  const StackGuard guard = make_guard(bottom - page_, made_ % kStacksPerSlab == 0);
  ++made_;
  return {bottom, usable_ - room_ - stagger, guard};
}

std::byte* StackPool::bottom_of(std::size_t number) const {
  return slabs_[number / kStacksPerSlab].base + (number % kStacksPerSlab) * (page_ + usable_) + page_;
}

std::span<std::byte> StackPool::take_room() {
  const std::lock_guard lock(mutex_);
  if (room_ == 0 || rooms_taken_ == made_) return {};
  return {bottom_of(rooms_taken_++) + usable_ - room_, room_};
}

bool StackPool::release(Stack stack) {
  if (!intact(stack)) return false;
  const std::lock_guard lock(mutex_);
  free_.push_back(stack);
  return true;
}

bool StackPool::intact(Stack stack) const {
  if (stack.guard != StackGuard::canary) return true;
  // Reading a page that nobody wrote takes no memory: the kernel shows its shared page of zeros.
  return std::all_of(stack.bottom - page_, stack.bottom, [](std::byte value) { return value == std::byte{0}; });
}

void StackPool::grow() {
  const Bytes stride = page_ + usable_;
  const Bytes bytes = stride * kStacksPerSlab;
  free_.reserve(made_ + kStacksPerSlab);  // every stack may come back
  slabs_.reserve(slabs_.size() + 1);
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw_errno("sim: mmap of " + std::to_string(bytes) + " bytes of rank stacks");
  slabs_.push_back({static_cast<std::byte*>(memory), bytes});
  // A huge page would take the memory of 28 stacks at once.
  madvise(memory, bytes, MADV_NOHUGEPAGE);
}

StackGuard StackPool::make_guard(std::byte* guard, bool lowest_of_slab) {
  if (guard_ == StackGuard::marker) {
    if (madvise(guard, page_, kInstallGuard) == 0) return guard_;
    guard_ = StackGuard::page;
  }
  if (guard_ == StackGuard::page) {
    if (++guard_pages_of_process <= kMostGuardPages && mprotect(guard, page_, PROT_NONE) == 0) {
      ++guard_pages_;
      return guard_;
    }
    --guard_pages_of_process;
    guard_ = StackGuard::canary;
  }
  const bool faults = lowest_of_slab && mprotect(guard, page_, PROT_NONE) == 0;
  return faults ? StackGuard::page : guard_;
}

}  // namespace gasmeter::sim

// Stacks of fibres, taken from slabs and reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::sim {

// Guard below a stack, from best to last; a pool that cannot have one goes on with the next.
//   marker  a page that faults, without a mapping of its own (MADV_GUARD_INSTALL, Linux 6.13): any number, quickly made
//   page    a page that faults and splits a mapping in two: at most 16384 of a process, for vm.max_map_count is 65530
//   canary  a page that stays zero, looked at when the stack is given back; only the lowest of a slab may fault
enum class StackGuard : std::uint8_t { marker, page, canary };

// A usable stack above its guard.
struct Stack {
  std::byte* bottom = nullptr;
  Bytes size = 0;
  StackGuard guard = StackGuard::marker;
  [[nodiscard]] std::byte* top() const { return bottom + size; }
};

// Address space is reserved slab by slab; memory becomes resident as a fibre touches it. Threads may share a pool.
class StackPool {
 public:
  // `usable`: bytes of each stack, rounded up to whole pages. `best`: the guard to try first. `room`: bytes above each
  // stack, rounded up to cache lines, that take_room() hands out.
  explicit StackPool(Bytes usable, StackGuard best = StackGuard::marker, Bytes room = 0);
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();

  [[nodiscard]] Bytes usable() const { return usable_ - room_; }

  // Take a stack. Throws ResourceError where the machine gives no more memory.
  [[nodiscard]] Stack acquire();
  // Give a stack back. False: the canary tells that the stack overflowed into its neighbour; it is not handed out
  // again.
  [[nodiscard]] bool release(Stack stack);
  // Return the room above a stack that has been handed out, once in the pool's life. A fibre that calls little leaves
  // most of its page untouched, and the page is resident anyhow. The room starts at a cache line and holds arbitrary
  // values. Empty: no more.
  [[nodiscard]] std::span<std::byte> take_room();

 private:
  struct Slab {
    std::byte* base;
    Bytes bytes;
  };
  [[nodiscard]] Stack make();
  void grow();
  [[nodiscard]] std::byte* bottom_of(std::size_t number) const;  // bottom of the stack made under that number
  [[nodiscard]] StackGuard make_guard(std::byte* guard, bool lowest_of_slab);
  [[nodiscard]] bool intact(Stack stack) const;

  Bytes page_;
  Bytes room_;
  Bytes usable_;  // room included
  StackGuard guard_;
  std::size_t guard_pages_ = 0;
  std::size_t made_ = 0;         // stacks that have been handed out
  std::size_t rooms_taken_ = 0;  // rooms that have been handed out, in the order of the stacks
  std::mutex mutex_;
  std::vector<Slab> slabs_;
  std::vector<Stack> free_;
};

}  // namespace gasmeter::sim

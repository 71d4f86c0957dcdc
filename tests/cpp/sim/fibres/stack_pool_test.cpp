#include "gasmeter/sim/fibres/stack_pool.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "gasmeter/sim/fibres/fibre.hpp"

namespace gasmeter::sim::stack_pool_test {
namespace {

// Return the signal that ends a child process in which a byte is written.
int signal_of_writing(std::byte* address) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    *static_cast<volatile std::byte*>(address) = std::byte{1};
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_CASE("released_stack_is_handed_out_again") {
  StackPool stacks(1);
  const Stack first = stacks.acquire();
  CHECK(first.size >= 1);
  CHECK(stacks.release(first));
  const Stack second = stacks.acquire();
  CHECK(second.bottom == first.bottom);
  CHECK(stacks.release(second));
}

TEST_CASE("rooms_lie_above_stacks_and_are_handed_out_once") {
  constexpr Bytes kRoom = 1000;
  StackPool stacks(1, StackGuard::marker, kRoom);
  CHECK(stacks.usable() >= 1);
  CHECK(stacks.take_room().empty());  // nobody has a stack
  std::vector<Stack> out;
  std::set<const std::byte*> rooms;
  for (int i = 0; i < 200; ++i) {
    out.push_back(stacks.acquire());
    if (i % 3 == 0) {  // a stack that has been out before brings no more room
      CHECK(stacks.release(out.back()));
      out.back() = stacks.acquire();
    }
    const std::span<std::byte> room = stacks.take_room();
    REQUIRE(room.size() >= kRoom);
    CHECK(stacks.take_room().empty());
    CHECK(reinterpret_cast<std::uintptr_t>(room.data()) % kCacheLine == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(room.data() + room.size()) % 4096 == 0);
    CHECK(room.data() >= out.back().top());  // the room is in the same page as the stack's first frames
    CHECK(room.data() - out.back().top() < 512);
    CHECK(rooms.insert(room.data()).second);
    std::fill(room.begin(), room.end(), std::byte{1});
  }
  for (const Stack& stack : out) {
    CHECK(*(stack.top() - 1) == std::byte{0});
    CHECK(stacks.release(stack));
  }
  (void)stacks.acquire();
  CHECK(stacks.take_room().empty());
}

TEST_CASE("a_pool_without_rooms_has_none") {
  StackPool stacks(1);
  (void)stacks.acquire();
  CHECK(stacks.take_room().empty());
}

TEST_CASE("writing_below_a_guarded_stack_faults") {
  if (Fibre::default_stack_bytes() > 64 * 1024) return;  // sanitizers catch the signal
  for (const StackGuard best : {StackGuard::marker, StackGuard::page, StackGuard::canary}) {
    StackPool stacks(4096, best);
    const Stack lowest = stacks.acquire();
    const Stack next = stacks.acquire();
    CHECK(next.guard >= best);  // a marker needs Linux 6.13
    CHECK(signal_of_writing(lowest.bottom) == 0);
    CHECK(signal_of_writing(lowest.bottom - 1) == SIGSEGV);
    CHECK(signal_of_writing(next.bottom - 1) == (best == StackGuard::canary ? 0 : SIGSEGV));
  }
}

TEST_CASE("stack_that_overflowed_past_its_canary_is_not_handed_out_again") {
  StackPool stacks(1, StackGuard::canary);
  static_cast<void>(stacks.acquire());
  const Stack second = stacks.acquire();
  const Stack third = stacks.acquire();
  *(third.bottom - 1) = std::byte{1};
  CHECK_FALSE(stacks.release(third));
  CHECK(stacks.release(second));
  CHECK(stacks.acquire().bottom == second.bottom);
  CHECK(stacks.acquire().bottom > third.bottom);
}

TEST_CASE("stacks_beyond_the_budget_of_guard_pages_have_a_canary") {
  StackPool stacks(1, StackGuard::page);
  std::array<std::size_t, 3> guards{};
  for (int i = 0; i < 40000; ++i) ++guards[static_cast<std::size_t>(stacks.acquire().guard)];
  CHECK(guards[static_cast<std::size_t>(StackGuard::marker)] == 0);
  CHECK(guards[static_cast<std::size_t>(StackGuard::page)] == 16384 + (40000 - 16384 + 63) / 64);
  StackPool others(1, StackGuard::page);
  static_cast<void>(others.acquire());
  CHECK(others.acquire().guard == StackGuard::canary);
}

}  // namespace
}  // namespace gasmeter::sim::stack_pool_test

// A target that looks by loads and is told beside the measured network: what it sees of operations on two threads.
#include "gasmeter/bench/told.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

namespace gasmeter::bench::told_test {
namespace {

constexpr std::uint64_t kOperations = 20;

// Return in how many looks the data was there. An operation leaves `sent`, and the target's poll brings it into
// `memory`. `waits`: whether the initiator waits for that before it reports completion.
std::uint64_t seen_of(bool waits) {
  ToldLines lines;
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> memory{0};
  std::uint64_t seen = 0;
  std::thread target([&] {
    ToldEnd end;
    end.use(&lines.lines[0]);
    for (std::uint64_t i = 1; i <= kOperations; ++i) {
      end.watch([&] { memory = sent.load(); }, [&] { seen += memory == i ? 1U : 0U; });
    }
  });
  ToldEnd end;
  end.use(&lines.lines[0]);
  for (std::uint64_t i = 1; i <= kOperations; ++i) {
    end.begin([] {});
    sent = i;
    while (waits && memory != i) std::this_thread::yield();
    end.complete();
  }
  target.join();
  return seen;
}

TEST_CASE("an_operation_that_needs_the_targets_polls_is_seen_when_it_is_complete") {
  CHECK(seen_of(true) == kOperations);
}

// This is deterministic: a watching target does not poll within the time that reporting takes. On a busy computer a
// look may come later.
TEST_CASE("an_operation_that_is_reported_complete_at_once_is_found") {
  CHECK(seen_of(false) < kOperations);
}

TEST_CASE("without_a_line_nobody_waits_and_nobody_looks") {
  ToldEnd end;
  bool looked = false;
  end.begin([] {});
  end.complete();
  end.watch([] {}, [&] { looked = true; });
  CHECK_FALSE(looked);
  CHECK_FALSE(end.is_used());
}

}  // namespace
}  // namespace gasmeter::bench::told_test

#include "gasmeter/sim/fibres/fibre.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"

namespace gasmeter::sim::fibre_test {
namespace {

struct Counted {
  explicit Counted(int& alive) : alive_(alive) { ++alive_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive_; }
  int& alive_;
};

// A case that runs with every maker of this build in turn.
#define FIBRE_TEST_CASE(title)                         \
  void title(FibreMaker maker);                        \
  TEST_CASE(#title) {                                  \
    for (const FibreMaker each : available_makers()) { \
      CAPTURE(name(each));                             \
      title(each);                                     \
    }                                                  \
  }                                                    \
  void title(FibreMaker maker)

// Tell whether the build has sanitizers: only a plain build has 64 KiB stacks. Sanitizers keep a large state for each
// fibre and follow few makers.
bool sanitized() {
  return Fibre::default_stack_bytes() > 64 * 1024;
}

std::size_t many_fibres(FibreMaker maker) {
  return sanitized() || maker == FibreMaker::thread ? 256 : 4096;
}

bool makes_system_calls(FibreMaker maker) {
  return maker == FibreMaker::ucontext || maker == FibreMaker::thread;
}

// Return the memory of this process alone that is not swapped out.
Bytes private_resident() {
  std::ifstream file("/proc/self/smaps_rollup");
  Bytes kib = 0;
  std::string word;
  while (file >> word) {
    Bytes value = 0;
    if ((word == "Private_Clean:" || word == "Private_Dirty:") && file >> value) kib += value;
  }
  return kib * 1024;
}

// Suspend with as much of a stack in use as a rank's frames take.
GASMETER_NOINLINE void suspend_with_a_kibibyte(Fibre& self) {
  std::array<std::byte, 1024> frame{};
  keep(frame.data());
  self.suspend();
  keep(frame.data());
}

FIBRE_TEST_CASE(fibre_alternates_with_its_resumer) {
  StackPool stacks(Fibre::default_stack_bytes());
  std::string trace;
  Fibre* self = nullptr;
  const auto body = [&] {
    trace += 'a';
    self->suspend();
    trace += 'b';
    self->suspend();
    trace += 'c';
  };
  Fibre fibre(stacks, body, maker);
  self = &fibre;
  CHECK(trace.empty());
  fibre.resume();
  trace += '1';
  fibre.resume();
  trace += '2';
  CHECK_FALSE(fibre.finished());
  fibre.resume();
  CHECK(fibre.finished());
  CHECK(trace == "a1b2c");
  CHECK_THROWS_AS(fibre.resume(), UsageError);
}

FIBRE_TEST_CASE(fibre_keeps_locals_and_floating_point_across_switches) {
  StackPool stacks(Fibre::default_stack_bytes());
  double result = 0;
  Fibre* self = nullptr;
  const auto body = [&] {
    double sum = 0.5;
    std::array<double, 64> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>(i);
      self->suspend();
      sum += values[i];
    }
    result = sum;
  };
  Fibre fibre(stacks, body, maker);
  self = &fibre;
  double outside = 1.0;
  while (!fibre.finished()) {
    fibre.resume();
    outside *= 1.5;
  }
  CHECK(result == 0.5 + 63 * 64 / 2);
  CHECK(outside > 1.0);
}

FIBRE_TEST_CASE(exception_of_a_fibre_is_rethrown_by_resume) {
  StackPool stacks(Fibre::default_stack_bytes());
  int alive = 0;
  Fibre* self = nullptr;
  const auto body = [&] {
    const Counted counted(alive);
    self->suspend();
    throw std::runtime_error("from the fibre");
  };
  Fibre fibre(stacks, body, maker);
  self = &fibre;
  fibre.resume();
  CHECK(alive == 1);
  CHECK_THROWS_WITH_AS(fibre.resume(), "from the fibre", std::runtime_error);
  CHECK(fibre.finished());
  CHECK(alive == 0);
}

FIBRE_TEST_CASE(exceptions_thrown_and_caught_on_a_fibre_stay_there) {
  StackPool stacks(Fibre::default_stack_bytes());
  int caught = 0;
  Fibre* self = nullptr;
  const auto body = [&] {
    for (int i = 0; i < 3; ++i) {
      try {
        throw i;
      } catch (int value) {
        caught += value;
      }
      self->suspend();
    }
  };
  Fibre fibre(stacks, body, maker);
  self = &fibre;
  while (!fibre.finished()) fibre.resume();
  CHECK(caught == 3);
}

FIBRE_TEST_CASE(cancelled_fibre_unwinds_its_stack) {
  StackPool stacks(Fibre::default_stack_bytes());
  int alive = 0;
  bool went_on = false;
  {
    Fibre* self = nullptr;
    const auto body = [&] {
      const Counted outer(alive);
      const auto inner = std::make_unique<Counted>(alive);
      self->suspend();
      went_on = true;
    };
    Fibre fibre(stacks, body, maker);
    self = &fibre;
    fibre.resume();
    CHECK(alive == 2);
  }
  CHECK(alive == 0);
  CHECK_FALSE(went_on);
}

FIBRE_TEST_CASE(body_that_swallows_its_cancellation_is_told_again) {
  StackPool stacks(Fibre::default_stack_bytes());
  int told = 0;
  Fibre* self = nullptr;
  const auto body = [&] {
    for (int i = 0; i < 3; ++i) {
      try {
        self->suspend();
      } catch (...) {
        ++told;
      }
    }
    throw std::runtime_error("dropped");
  };
  Fibre fibre(stacks, body, maker);
  self = &fibre;
  fibre.resume();
  fibre.cancel();
  CHECK(told == 3);
  CHECK(fibre.finished());
}

FIBRE_TEST_CASE(fibre_that_never_started_only_drops_its_body) {
  StackPool stacks(Fibre::default_stack_bytes());
  int alive = 0;
  {
    const auto held = std::make_shared<Counted>(alive);
    Fibre fibre(stacks, [held] {}, maker);
  }
  CHECK(alive == 0);
}

FIBRE_TEST_CASE(thousands_of_fibres_run_in_turns_and_reuse_stacks) {
  StackPool stacks(Fibre::default_stack_bytes());
  for (int generation = 0; generation < 2; ++generation) {
    std::vector<std::unique_ptr<Fibre>> fibres(many_fibres(maker));
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < fibres.size(); ++i) {
      const auto body = [&sum, &fibres, i] {
        for (int round = 0; round < 3; ++round) {
          sum += i;
          fibres[i]->suspend();
        }
      };
      fibres[i] = std::make_unique<Fibre>(stacks, body, maker);
    }
    for (int round = 0; round < 4; ++round) {
      for (auto& fibre : fibres) fibre->resume();
    }
    for (auto& fibre : fibres) CHECK(fibre->finished());
    const std::uint64_t n = fibres.size();
    CHECK(sum == 3 * (n * (n - 1) / 2));
  }
}

FIBRE_TEST_CASE(fibre_goes_on_in_whatever_thread_resumes_it) {
  StackPool stacks(Fibre::default_stack_bytes());
  constexpr std::size_t kFibres = 8;
  std::vector<std::unique_ptr<Fibre>> fibres(kFibres);
  std::array<pid_t, kFibres> ran_in{};  // compilers assume that std::this_thread::get_id() stays the same in a function
  int caught = 0;
  int alive = 0;
  for (std::size_t i = 0; i < kFibres; ++i) {
    const auto body = [&, i] {
      const Counted counted(alive);
      for (int round = 0;; ++round) {
        ran_in[i] = gettid();
        try {
          if (round % 2 == 1) throw round;
        } catch (int) {
          ++caught;
        }
        fibres[i]->suspend();
      }
    };
    fibres[i] = std::make_unique<Fibre>(stacks, body, maker);
  }
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    std::thread([&] {
      for (auto& fibre : fibres) fibre->resume();
    }).join();
    for (std::size_t i = 1; i < kFibres; ++i) CHECK((ran_in[i] == ran_in[0]) == (maker != FibreMaker::thread));
    for (auto& fibre : fibres) fibre->resume();
    if (maker != FibreMaker::thread) CHECK(ran_in[0] == gettid());
  }
  CHECK(caught == kRounds * static_cast<int>(kFibres));
  CHECK(alive == static_cast<int>(kFibres));
  std::thread([&] { fibres.clear(); }).join();
  CHECK(alive == 0);
}

FIBRE_TEST_CASE(threads_make_run_and_end_fibres_of_one_pool) {
  StackPool stacks(Fibre::default_stack_bytes());
  std::array<int, 4> ended{};
  std::vector<std::thread> threads;
  for (int& mine : ended) {
    threads.emplace_back([&stacks, &mine, maker] {
      for (int i = 0; i < 100; ++i) {
        Fibre* self = nullptr;
        const auto body = [&] {
          self->suspend();
          ++mine;
        };
        Fibre fibre(stacks, body, maker);
        self = &fibre;
        fibre.resume();
        fibre.resume();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : ended) CHECK(count == 100);
}

FIBRE_TEST_CASE(more_fibres_than_the_kernel_allows_mappings) {
  if (sanitized() || makes_system_calls(maker)) return;
  StackPool stacks(Fibre::default_stack_bytes());
  std::vector<std::unique_ptr<Fibre>> fibres(70000);
  std::size_t alive = 0;
  for (std::unique_ptr<Fibre>& fibre : fibres) {
    const auto body = [&fibre, &alive] {
      ++alive;
      fibre->suspend();
      --alive;
    };
    fibre = std::make_unique<Fibre>(stacks, body, maker);
  }
  for (auto& fibre : fibres) fibre->resume();
  CHECK(alive == fibres.size());
  for (auto& fibre : fibres) fibre->resume();
  CHECK(alive == 0);
}

FIBRE_TEST_CASE(fibre_takes_at_most_six_kibibytes) {
  if (sanitized() || maker == FibreMaker::thread) return;
  StackPool stacks(Fibre::default_stack_bytes());
  constexpr std::size_t kFibres = 8192;
  const Bytes before = private_resident();
  REQUIRE(before > 0);
  std::vector<std::unique_ptr<Fibre>> fibres(kFibres);
  for (std::unique_ptr<Fibre>& fibre : fibres) {
    fibre = std::make_unique<Fibre>(stacks, [&fibre] { suspend_with_a_kibibyte(*fibre); }, maker);
    fibre->resume();
  }
  const Bytes taken = private_resident() - before;
  CHECK(taken >= kFibres * 4096);
  CHECK(taken <= kFibres * 6144);
}

FIBRE_TEST_CASE(fibre_gives_its_stack_back_when_its_body_ends) {
  if (maker == FibreMaker::thread) return;
  StackPool stacks(Fibre::default_stack_bytes());
  std::array<const std::byte*, 2> frames{};
  std::array<std::unique_ptr<Fibre>, 2> fibres;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto body = [&frames, i] { frames[i] = static_cast<const std::byte*>(__builtin_frame_address(0)); };
    fibres[i] = std::make_unique<Fibre>(stacks, body, maker);
    fibres[i]->resume();
  }
  CHECK(frames[0] == frames[1]);
}

FIBRE_TEST_CASE(fibre_that_overflowed_its_stack_is_told_at_its_end) {
  if (maker == FibreMaker::thread) return;
  StackPool stacks(Fibre::default_stack_bytes(), StackGuard::canary);
  const Stack lowest = stacks.acquire();
  const Stack stack = stacks.acquire();  // stack of the next fibre
  REQUIRE(stacks.release(stack));
  const auto body = [&] { *(stack.bottom - 64) = std::byte{7}; };
  Fibre fibre(stacks, body, maker);
  CHECK_THROWS_AS(fibre.resume(), ResourceError);
  CHECK(fibre.finished());
  const Stack other = stacks.acquire();
  CHECK(other.bottom != stack.bottom);
  CHECK(stacks.release(other));
  CHECK(stacks.release(lowest));
}

TEST_CASE("makers_have_names_and_those_not_available_say_why") {
  for (const FibreMaker maker :
       {FibreMaker::automatic, FibreMaker::assembly, FibreMaker::portable, FibreMaker::ucontext, FibreMaker::thread}) {
    CHECK(parse_fibre_maker(name(maker)) == maker);
    StackPool stacks(Fibre::default_stack_bytes());
    const std::vector<FibreMaker>& makers = available_makers();
    if (maker == FibreMaker::automatic) {
      CHECK(require_available(maker) == makers.front());
      CHECK(Fibre(stacks, [] {}).maker() == makers.front());
    } else if (std::find(makers.begin(), makers.end(), maker) != makers.end()) {
      CHECK(require_available(maker) == maker);
      CHECK(Fibre(stacks, [] {}, maker).maker() == maker);
    } else {
      CHECK_THROWS_AS(Fibre(stacks, [] {}, maker), UsageError);
    }
  }
  CHECK(sanitized() == (available_makers().front() == FibreMaker::ucontext));
  CHECK_THROWS_WITH_AS(static_cast<void>(parse_fibre_maker("fast")),
                       "fibre maker 'fast': allowed are automatic, assembly, portable, ucontext, thread", UsageError);
}

}  // namespace
}  // namespace gasmeter::sim::fibre_test

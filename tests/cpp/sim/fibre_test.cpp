#include "gasmeter/sim/fibre.hpp"

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"

namespace gasmeter::sim {
namespace {

struct Counted {
  explicit Counted(int& alive) : alive_(alive) { ++alive_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive_; }
  int& alive_;
};

// 64 KiB stacks mean a plain build; sanitizers keep a large state for each fibre.
std::size_t many_fibres() {
  return Fibre::default_stack_bytes() > 64 * 1024 ? 256 : 4096;
}

TEST_CASE("fibre_alternates_with_its_resumer") {
  StackPool stacks(Fibre::default_stack_bytes());
  std::string trace;
  Fibre* self = nullptr;
  Fibre fibre(stacks, [&] {
    trace += 'a';
    self->suspend();
    trace += 'b';
    self->suspend();
    trace += 'c';
  });
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

TEST_CASE("fibre_keeps_locals_and_floating_point_across_switches") {
  StackPool stacks(Fibre::default_stack_bytes());
  double result = 0;
  Fibre* self = nullptr;
  Fibre fibre(stacks, [&] {
    double sum = 0.5;
    std::array<double, 64> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>(i);
      self->suspend();
      sum += values[i];
    }
    result = sum;
  });
  self = &fibre;
  double outside = 1.0;
  while (!fibre.finished()) {
    fibre.resume();
    outside *= 1.5;
  }
  CHECK(result == 0.5 + 63 * 64 / 2);
  CHECK(outside > 1.0);
}

TEST_CASE("exception_of_a_fibre_is_rethrown_by_resume") {
  StackPool stacks(Fibre::default_stack_bytes());
  int alive = 0;
  Fibre* self = nullptr;
  Fibre fibre(stacks, [&] {
    const Counted counted(alive);
    self->suspend();
    throw std::runtime_error("from the fibre");
  });
  self = &fibre;
  fibre.resume();
  CHECK(alive == 1);
  CHECK_THROWS_WITH_AS(fibre.resume(), "from the fibre", std::runtime_error);
  CHECK(fibre.finished());
  CHECK(alive == 0);
}

TEST_CASE("exceptions_thrown_and_caught_on_a_fibre_stay_there") {
  StackPool stacks(Fibre::default_stack_bytes());
  int caught = 0;
  Fibre* self = nullptr;
  Fibre fibre(stacks, [&] {
    for (int i = 0; i < 3; ++i) {
      try {
        throw i;
      } catch (int value) {
        caught += value;
      }
      self->suspend();
    }
  });
  self = &fibre;
  while (!fibre.finished()) fibre.resume();
  CHECK(caught == 3);
}

TEST_CASE("cancelled_fibre_unwinds_its_stack") {
  StackPool stacks(Fibre::default_stack_bytes());
  int alive = 0;
  bool went_on = false;
  {
    Fibre* self = nullptr;
    Fibre fibre(stacks, [&] {
      const Counted outer(alive);
      const auto inner = std::make_unique<Counted>(alive);
      self->suspend();
      went_on = true;
    });
    self = &fibre;
    fibre.resume();
    CHECK(alive == 2);
  }
  CHECK(alive == 0);
  CHECK_FALSE(went_on);
}

TEST_CASE("body_that_swallows_its_cancellation_is_told_again") {
  StackPool stacks(Fibre::default_stack_bytes());
  int told = 0;
  Fibre* self = nullptr;
  Fibre fibre(stacks, [&] {
    for (int i = 0; i < 3; ++i) {
      try {
        self->suspend();
      } catch (...) {
        ++told;
      }
    }
    throw std::runtime_error("dropped");
  });
  self = &fibre;
  fibre.resume();
  fibre.cancel();
  CHECK(told == 3);
  CHECK(fibre.finished());
}

TEST_CASE("fibre_that_never_started_only_drops_its_body") {
  StackPool stacks(Fibre::default_stack_bytes());
  int alive = 0;
  {
    const auto held = std::make_shared<Counted>(alive);
    Fibre fibre(stacks, [held] {});
  }
  CHECK(alive == 0);
}

TEST_CASE("thousands_of_fibres_run_in_turns_and_reuse_stacks") {
  StackPool stacks(Fibre::default_stack_bytes());
  for (int generation = 0; generation < 2; ++generation) {
    std::vector<std::unique_ptr<Fibre>> fibres(many_fibres());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < fibres.size(); ++i) {
      fibres[i] = std::make_unique<Fibre>(stacks, [&sum, &fibres, i] {
        for (int round = 0; round < 3; ++round) {
          sum += i;
          fibres[i]->suspend();
        }
      });
    }
    for (int round = 0; round < 4; ++round) {
      for (auto& fibre : fibres) fibre->resume();
    }
    for (auto& fibre : fibres) CHECK(fibre->finished());
    const std::uint64_t n = fibres.size();
    CHECK(sum == 3 * (n * (n - 1) / 2));
  }
}

}  // namespace
}  // namespace gasmeter::sim

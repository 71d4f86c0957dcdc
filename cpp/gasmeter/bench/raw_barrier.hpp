// Barriers on a card, without a conduit: the program; how its words travel is the card's own.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/bench/barrier_check.hpp"
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/program.hpp"

namespace gasmeter::bench {

// `Words` is made of a raw context and has host() and barrier(number), which all ranks enter and which returns the
// smallest of their numbers.
template <class Words>
class RawBarrier final : public Program {
 public:
  template <class Context>
  RawBarrier(Context context, const Settings& settings)
      : words_(context), rounds_(BarrierCheck(settings.ranks).rounds()) {}

  BlockResult run(std::uint64_t iterations) override {
    (void)words_.barrier(0);
    const SimTime start = words_.host().now();
    for (std::uint64_t i = 0; i < iterations; ++i) (void)barrier(0);
    BlockResult result{words_.host().now() - start, iterations, {}};
    result.add_time_per_operation("latency");
    return result;
  }

  // Nobody may leave a barrier that another rank has not entered: the smallest count of entries is one's own.
  Verification verify() override {
    Verification verification;
    for (std::uint64_t round = 0; round < rounds_; ++round) {
      ++verification.checked;
      ++entered_;
      verification.errors += barrier(entered_) != entered_ ? 1U : 0U;
    }
    return verification;
  }

 private:
  std::uint32_t barrier(std::uint32_t number) { return mutants::drops() ? 0 : words_.barrier(number); }

  Words words_;
  std::uint64_t rounds_;
  std::uint32_t entered_ = 0;
};

}  // namespace gasmeter::bench

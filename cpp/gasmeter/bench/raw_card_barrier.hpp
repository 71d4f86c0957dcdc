// Barriers on a card, without a conduit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/bench/barrier_check.hpp"
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/raw_card.hpp"

namespace gasmeter::bench {

template <template <class> class Card>
class RawCardBarrier final : public Program {
 public:
  template <class Context>
  RawCardBarrier(Context context, const Settings& settings)
      : card_(context, *this, 0), rounds_(BarrierCheck(settings.ranks).rounds()) {}

  BlockResult run(std::uint64_t iterations) override {
    (void)card_.barrier();
    const SimTime start = card_.host().read_clock();
    for (std::uint64_t i = 0; i < iterations; ++i) (void)barrier(0);
    BlockResult result{card_.host().read_clock() - start, iterations, {}};
    result.add_time_per_operation("latency");
    return result;
  }

  // Check that nobody leaves a barrier that another rank has not entered: the smallest count of entries must be this
  // rank's.
  Verification verify() override {
    Verification verification;
    for (std::uint64_t round = 0; round < rounds_; ++round) {
      ++verification.checked;
      ++entered_;
      verification.errors += barrier(entered_) != entered_ ? 1U : 0U;
    }
    return verification;
  }

  void received(const std::byte* /*data*/, Bytes /*bytes*/) {}
  void notified(Bytes /*bytes*/) {}
  void told(const CardWord& /*word*/) {}

 private:
  std::uint32_t barrier(std::uint32_t number) { return mutants::lets_go() ? 0 : card_.barrier(number); }

  Card<RawCardBarrier> card_;
  std::uint64_t rounds_;
  std::uint32_t entered_ = 0;
};

}  // namespace gasmeter::bench

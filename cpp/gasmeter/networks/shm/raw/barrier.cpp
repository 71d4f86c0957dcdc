// A cache line from rank 0 to rank 1 and back. A barrier of two ranks needs only one of the two ways.
#include <atomic>
#include <cstdint>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/networks/shm/raw/programs.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"

namespace gasmeter::networks::shm::raw {

using namespace bench;

namespace {

class LineRoundTrip final : public Program {
 public:
  LineRoundTrip(Context context, const Settings& settings) : memory_(context.memory) { require_ranks(settings, 2); }

  [[nodiscard]] bool compares() const override { return index(memory_.rank()) < 2; }

  BlockResult run(std::uint64_t iterations) override {
    memory_.barrier();
    const SimTime start = memory_.host().now();
    const std::uint32_t self = index(memory_.rank());
    if (self < 2) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        ++count_;
        if (self == 0 && !mutants::lets_go()) memory_.line(0).store(count_, std::memory_order_release);
        memory_.wait_until([&] { return memory_.line(1 - self).load(std::memory_order_acquire) >= count_; });
        if (self == 1) memory_.line(1).store(count_, std::memory_order_release);
      }
    }
    BlockResult result{memory_.host().now() - start, iterations, {}};
    memory_.barrier();
    result.add_time_per_operation("latency");
    return result;
  }

  // Check that both ranks have counted the same number of rounds.
  Verification verify() override {
    Verification verification;
    const std::uint32_t self = index(memory_.rank());
    for (int round = 0; round < 4; ++round) {
      (void)run(1);
      if (self < 2) {
        ++verification.checked;
        verification.errors += memory_.line(1 - self).load(std::memory_order_acquire) != count_ ? 1U : 0U;
      }
      memory_.barrier();
    }
    return verification;
  }

 private:
  SharedMemory& memory_;
  std::uint64_t count_ = 0;
};

}  // namespace

std::unique_ptr<Program> make_barrier(Context context, const Settings& settings) {
  return std::make_unique<LineRoundTrip>(context, settings);
}

}  // namespace gasmeter::networks::shm::raw

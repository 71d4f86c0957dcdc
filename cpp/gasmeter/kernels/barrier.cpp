// The time of one barrier of all ranks. Raw on the memory itself: a cache line from rank 0 to rank 1 and back, of which
// a barrier of two ranks needs only one way.
#include "gasmeter/kernels/entered.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/mutants.hpp"
#include "gasmeter/kernels/pattern.hpp"
#include "gasmeter/kernels/raw_extoll/raw_extoll.hpp"
#include "gasmeter/kernels/raw_ibv/raw_ibv.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"

namespace gasmeter::kernels {
namespace {

template <class H>
class Barrier final : public Program {
 public:
  // Segment: one counter per rank, written by its owner before every checked barrier.
  Barrier(core::Endpoint<H>& endpoint, const Settings& /*settings*/) : endpoint_(endpoint), entered_(endpoint) {}

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    const SimTime start = endpoint_.host().now();
    for (std::uint64_t i = 0; i < iterations; ++i) {
      endpoint_.host().mark(Mark::begin);
      one();
      endpoint_.host().mark(Mark::end);
    }
    BlockResult result{endpoint_.host().now() - start, iterations, {}};
    result.add_time_per_operation("latency");
    return result;
  }

  // Nobody may leave a barrier that another rank has not entered.
  Verification verify() override {
    Verification found;
    for (std::uint64_t round = 0; round < entered_.rounds(); ++round) {
      entered_.count();
      one();
      entered_.look(found);
      endpoint_.barrier();  // nobody enters the next round while a peer still reads this one's counters
    }
    return found;
  }

 private:
  GASMETER_INLINE void one() {
    if (!mutants::drops()) endpoint_.barrier();
  }

  core::Endpoint<H>& endpoint_;
  Entered<H> entered_;
};

class RawLineRoundTrip final : public Program {
 public:
  RawLineRoundTrip(RawShm context, const Settings& settings) : memory_(context.memory) { require_ranks(settings, 2); }

  BlockResult run(std::uint64_t iterations) override {
    memory_.barrier();
    const SimTime start = memory_.host().now();
    const std::uint32_t self = index(memory_.rank());
    if (self < 2) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        ++count_;
        if (self == 0 && !mutants::drops()) memory_.line(0).store(count_, std::memory_order_release);
        memory_.wait_until([&] { return memory_.line(1 - self).load(std::memory_order_acquire) >= count_; });
        if (self == 1) memory_.line(1).store(count_, std::memory_order_release);
      }
    }
    BlockResult result{memory_.host().now() - start, iterations, {}};
    memory_.barrier();
    result.add_time_per_operation("latency");
    return result;
  }

  // Both have come as far as each other.
  Verification verify() override {
    Verification found;
    const std::uint32_t self = index(memory_.rank());
    for (int round = 0; round < 4; ++round) {
      (void)run(1);
      if (self < 2) {
        ++found.checked;
        found.errors += memory_.line(1 - self).load(std::memory_order_acquire) != count_ ? 1U : 0U;
      }
      memory_.barrier();
    }
    return found;
  }

 private:
  networks::shm::SharedMemory& memory_;
  std::uint64_t count_ = 0;
};

}  // namespace

void register_barrier(Registry& registry) {
  Kernel kernel =
      kernel_of<Barrier>({.name = "barrier",
                          .summary = "one barrier of all ranks; raw: a cache-line round trip between ranks 0 and 1",
                          .ops = {{"barrier",
                                   "blocking barriers in a row",
                                   {{"latency", "ns", "one barrier, all ranks have entered before any leaves"}},
                                   false}},
                          .variants = {},
                          .options = {}},
                         [](const Settings&) { return Bytes{8}; });
  kernel.raw_plan = [](const Settings&) { return Bytes{0}; };
  kernel.make_raw_shm = [](RawShm context, const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<RawLineRoundTrip>(context, settings);
  };
  kernel.make_raw_extoll = &raw_extoll::make_barrier;
  kernel.make_raw_ibv = &raw_ibv::make_barrier;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels

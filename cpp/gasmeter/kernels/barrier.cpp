// The time of one barrier of all ranks.
#include "gasmeter/bench/program.hpp"
#include "gasmeter/kernels/entered.hpp"
#include "gasmeter/kernels/kernel.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

template <class H>
class Barrier final : public Program {
 public:
  // Segment: one counter per rank, written by its owner before every checked barrier.
  Barrier(core::Endpoint<H>& endpoint, const Settings& /*settings*/) : endpoint_(endpoint), entered_(endpoint) {}

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    const SimTime start = endpoint_.host().read_clock();
    for (std::uint64_t i = 0; i < iterations; ++i) {
      endpoint_.host().mark(Mark::begin);
      pass();
      endpoint_.host().mark(Mark::end);
    }
    BlockResult result{endpoint_.host().read_clock() - start, iterations, {}};
    result.add_time_per_operation("latency");
    return result;
  }

  // Check that nobody leaves a barrier that another rank has not entered.
  Verification verify() override {
    Verification verification;
    entered_.check(verification, [this] { pass(); });
    return verification;
  }

 private:
  GASMETER_INLINE void pass() { endpoint_.barrier(); }

  core::Endpoint<H>& endpoint_;
  Entered<H> entered_;
};

}  // namespace

void register_barrier(Registry& registry) {
  Kernel kernel =
      kernel_of<Barrier>({.name = "barrier",
                          .summary = "one barrier of all ranks; raw: a cache-line round trip between ranks 0 and 1",
                          .ops = {{"barrier",
                                   "blocking barriers in a row",
                                   {{"latency", "one barrier, all ranks have entered before any leaves"},
                                    {"reserved_bytes",
                                     "of conduits in virtual time: the modelled machine's memory "
                                     "that they hold behind the barriers, divided by ranks"}},
                                   false}},
                          .variants = {},
                          .options = {}},
                         [](const Settings&) { return Bytes{8}; });
  kernel.tells_reserved_memory = true;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels

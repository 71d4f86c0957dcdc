// Dissemination by inlined sends.
#include "gasmeter/kernels/raw_ibv/raw_ibv.hpp"

namespace gasmeter::kernels::raw_ibv {
namespace {

class Barrier final : public Program {
 public:
  explicit Barrier(RawIbv context) : verbs_(context, *this, 0) {}

  BlockResult run(std::uint64_t iterations) override {
    (void)verbs_.barrier();
    const SimTime start = verbs_.host().now();
    for (std::uint64_t i = 0; i < iterations; ++i) (void)verbs_.barrier();
    BlockResult result{verbs_.host().now() - start, iterations, {}};
    result.add_time_per_operation("latency");
    return result;
  }

  // Nobody may leave a barrier that another rank has not entered: the smallest count of entries is one's own.
  Verification verify() override {
    Verification found;
    for (int round = 0; round < 8; ++round) {
      ++found.checked;
      ++entered_;
      found.errors += verbs_.barrier(entered_) != entered_ ? 1U : 0U;
    }
    return found;
  }

  void received(const std::byte* /*data*/, const WorkCompletion& /*completion*/) {}
  void done(const WorkCompletion& /*completion*/) {}
  void told(Rank /*from*/, const Word& /*word*/) {}

 private:
  Verbs<Barrier> verbs_;
  std::uint32_t entered_ = 0;
};

}  // namespace

std::unique_ptr<Program> make_barrier(RawIbv context, const Settings& /*settings*/) {
  return std::make_unique<Barrier>(context);
}

}  // namespace gasmeter::kernels::raw_ibv

// Dissemination by VELO packets of one word.
#include "gasmeter/kernels/pattern.hpp"
#include "gasmeter/kernels/raw_extoll/raw_extoll.hpp"

namespace gasmeter::kernels::raw_extoll {
namespace {

class Barrier final : public Program {
 public:
  explicit Barrier(RawExtoll context) : port_(context, *this) {}

  BlockResult run(std::uint64_t iterations) override {
    (void)port_.barrier();
    const SimTime start = port_.host().now();
    for (std::uint64_t i = 0; i < iterations; ++i) (void)port_.barrier();
    BlockResult result{port_.host().now() - start, iterations, {}};
    result.add_time_per_operation("latency");
    return result;
  }

  // Nobody may leave a barrier that another rank has not entered: the smallest count of entries is one's own.
  Verification verify() override {
    Verification found;
    for (int round = 0; round < 8; ++round) {
      ++found.checked;
      ++entered_;
      found.errors += port_.barrier(entered_) != entered_ ? 1U : 0U;
    }
    return found;
  }

  void take(const VeloPacket& /*packet*/) {}
  void take(const Notification& /*notification*/) {}
  void dropped(Rank /*to*/, std::uint8_t /*tag*/) {}

 private:
  Port<Barrier> port_;
  std::uint32_t entered_ = 0;
};

}  // namespace

std::unique_ptr<Program> make_barrier(RawExtoll context, const Settings& /*settings*/) {
  return std::make_unique<Barrier>(context);
}

}  // namespace gasmeter::kernels::raw_extoll

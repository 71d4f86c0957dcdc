// Dissemination by inlined sends.
#include "gasmeter/kernels/raw_barrier.hpp"
#include "gasmeter/kernels/raw_ibv/raw_ibv.hpp"

namespace gasmeter::kernels::raw_ibv {
namespace {

class Words {
 public:
  explicit Words(RawIbv context) : verbs_(context, *this, 0) {}

  [[nodiscard]] sim::ModelHost& host() { return verbs_.host(); }
  std::uint32_t barrier(std::uint32_t number) { return verbs_.barrier(number); }

  void received(const std::byte* /*data*/, const WorkCompletion& /*completion*/) {}
  void done(const WorkCompletion& /*completion*/) {}
  void told(Rank /*from*/, const Word& /*word*/) {}

 private:
  Verbs<Words> verbs_;
};

}  // namespace

std::unique_ptr<Program> make_barrier(RawIbv context, const Settings& settings) {
  return std::make_unique<RawBarrier<Words>>(context, settings);
}

}  // namespace gasmeter::kernels::raw_ibv

// Dissemination by inlined sends.
#include "gasmeter/bench/raw_barrier.hpp"
#include "gasmeter/networks/ibv/raw/programs.hpp"

namespace gasmeter::networks::ibv::raw {

using namespace bench;

namespace {

class Words {
 public:
  explicit Words(Context context) : verbs_(context, *this, 0) {}

  [[nodiscard]] sim::ModelHost& host() { return verbs_.host(); }
  std::uint32_t barrier(std::uint32_t number) { return verbs_.barrier(number); }

  void received(const std::byte* /*data*/, const WorkCompletion& /*completion*/) {}
  void done(const WorkCompletion& /*completion*/) {}
  void told(Rank /*from*/, const Word& /*word*/) {}

 private:
  Verbs<Words> verbs_;
};

}  // namespace

std::unique_ptr<Program> make_barrier(Context context, const Settings& settings) {
  return std::make_unique<RawBarrier<Words>>(context, settings);
}

}  // namespace gasmeter::networks::ibv::raw

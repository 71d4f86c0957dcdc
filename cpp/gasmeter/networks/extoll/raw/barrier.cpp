// Dissemination by VELO packets of one word.
#include "gasmeter/bench/raw_barrier.hpp"
#include "gasmeter/networks/extoll/raw/programs.hpp"

namespace gasmeter::networks::extoll::raw {

using namespace bench;

namespace {

class Words {
 public:
  explicit Words(Context context) : port_(context, *this) {}

  [[nodiscard]] sim::ModelHost& host() { return port_.host(); }
  std::uint32_t barrier(std::uint32_t number) { return port_.barrier(number); }

  void take(const VeloPacket& /*packet*/) {}
  void take(const Notification& /*notification*/) {}
  void dropped(Rank /*to*/, std::uint8_t /*tag*/) {}

 private:
  Port<Words> port_;
};

}  // namespace

std::unique_ptr<Program> make_barrier(Context context, const Settings& settings) {
  return std::make_unique<RawBarrier<Words>>(context, settings);
}

}  // namespace gasmeter::networks::extoll::raw

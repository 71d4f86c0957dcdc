#include "gasmeter/networks/lapi/raw/programs.hpp"

#include "gasmeter/bench/raw_card_barrier.hpp"
#include "gasmeter/bench/raw_card_flood.hpp"
#include "gasmeter/bench/raw_card_ping_pong.hpp"
#include "gasmeter/networks/lapi/raw/card.hpp"

namespace gasmeter::networks::lapi::raw {

std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings) {
  return std::make_unique<bench::RawCardPingPong<Card>>(context, settings);
}
std::unique_ptr<Program> make_flood(Context context, const Settings& settings) {
  return std::make_unique<bench::RawCardFlood<Card>>(context, settings);
}
std::unique_ptr<Program> make_barrier(Context context, const Settings& settings) {
  return std::make_unique<bench::RawCardBarrier<Card>>(context, settings);
}

const RawPrograms<Context>& programs() {
  static const RawPrograms<Context> all = {
      {"ping-pong", &make_ping_pong}, {"flood", &make_flood}, {"barrier", &make_barrier}};
  return all;
}

}  // namespace gasmeter::networks::lapi::raw

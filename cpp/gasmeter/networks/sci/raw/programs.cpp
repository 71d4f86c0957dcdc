#include "gasmeter/networks/sci/raw/programs.hpp"

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/raw_card_barrier.hpp"
#include "gasmeter/bench/raw_card_flood.hpp"
#include "gasmeter/bench/raw_card_ping_pong.hpp"
#include "gasmeter/networks/sci/raw/card.hpp"

namespace gasmeter::networks::sci::raw {
namespace {

// The DMA engine only writes, and it moves whole words.
void require_path(const Context& context, const Settings& settings) {
  if (context.path == Path::pio || settings.op == "am-short") return;
  if (settings.op == "get") {
    throw UsageError("kernel " + settings.kernel + " on raw@sci, op get: path=dma writes; path=pio has loads");
  }
  if (settings.size % context.sisci.alignment() != 0) {
    throw UsageError("kernel " + settings.kernel + " on raw@sci, path=dma, size " + std::to_string(settings.size) +
                     ": the card's DMA moves multiples of " + std::to_string(context.sisci.alignment()) + " bytes");
  }
}

}  // namespace

std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings) {
  require_path(context, settings);
  return std::make_unique<bench::RawCardPingPong<Card>>(context, settings);
}
std::unique_ptr<Program> make_flood(Context context, const Settings& settings) {
  require_path(context, settings);
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

}  // namespace gasmeter::networks::sci::raw

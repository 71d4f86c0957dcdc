#include "gasmeter/networks/extoll/raw/programs.hpp"

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/raw_card_barrier.hpp"
#include "gasmeter/bench/raw_card_flood.hpp"
#include "gasmeter/bench/raw_card_ping_pong.hpp"
#include "gasmeter/networks/extoll/raw/card.hpp"

namespace gasmeter::networks::extoll::raw {
namespace {

[[noreturn]] void refuse(Path path, const Settings& settings, const std::string& reason) {
  throw UsageError("kernel " + settings.kernel + " on raw@extoll, op " + settings.op +
                   ": option 'path=" + (path == Path::velo ? "velo" : "rma") + "': " + reason);
}
void require_way_of_gets(const Context& context, const Settings& settings) {
  if (context.path == Path::velo && settings.op == "get") {
    refuse(context.path, settings, "VELO has no gets; allowed: path=auto, path=rma");
  }
}
void require_automatic(const Context& context, const Settings& settings) {
  if (context.path != Path::automatic) refuse(context.path, settings, "it has path=auto alone");
}

}  // namespace

std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings) {
  require_way_of_gets(context, settings);
  return std::make_unique<bench::RawCardPingPong<Card>>(context, settings);
}
std::unique_ptr<Program> make_flood(Context context, const Settings& settings) {
  require_way_of_gets(context, settings);
  return std::make_unique<bench::RawCardFlood<Card>>(context, settings);
}
std::unique_ptr<Program> make_barrier(Context context, const Settings& settings) {
  require_automatic(context, settings);
  return std::make_unique<bench::RawCardBarrier<Card>>(context, settings);
}

const RawPrograms<Context>& programs() {
  static const RawPrograms<Context> all = {{"ping-pong", &make_ping_pong},
                                           {"flood", &make_flood},
                                           {"random-access",
                                            [](Context context, const Settings& settings) {
                                              require_automatic(context, settings);
                                              return make_random_access(context, settings);
                                            }},
                                           {"barrier", &make_barrier}};
  return all;
}

}  // namespace gasmeter::networks::extoll::raw

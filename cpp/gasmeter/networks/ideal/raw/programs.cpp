#include "gasmeter/networks/ideal/raw/programs.hpp"

namespace gasmeter::networks::ideal::raw {

const RawPrograms<Context>& programs() {
  static const RawPrograms<Context> all = {{"ping-pong", &make_ping_pong}, {"loggp", &make_loggp}};
  return all;
}

}  // namespace gasmeter::networks::ideal::raw

#include "gasmeter/networks/ibv/raw/programs.hpp"

namespace gasmeter::networks::ibv::raw {

const RawPrograms<Context>& programs() {
  static const RawPrograms<Context> all = {
      {"ping-pong", &make_ping_pong}, {"flood", &make_flood}, {"barrier", &make_barrier}};
  return all;
}

}  // namespace gasmeter::networks::ibv::raw

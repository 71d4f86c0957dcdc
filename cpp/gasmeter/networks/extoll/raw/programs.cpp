#include "gasmeter/networks/extoll/raw/programs.hpp"

namespace gasmeter::networks::extoll::raw {

const RawPrograms<Context>& programs() {
  static const RawPrograms<Context> all = {{"ping-pong", &make_ping_pong},
                                           {"flood", &make_flood},
                                           {"random-access", &make_random_access},
                                           {"barrier", &make_barrier}};
  return all;
}

}  // namespace gasmeter::networks::extoll::raw

#include "gasmeter/networks/shm/raw/programs.hpp"

#include "gasmeter/bench/fetch_add.hpp"
#include "gasmeter/bench/random_access_table.hpp"
#include "gasmeter/bench/vis_layout.hpp"

namespace gasmeter::networks::shm::raw {

const RawPrograms<Context>& programs() {
  static const RawPrograms<Context> all = {{"ping-pong", &make_ping_pong, &share_of_ping_pong},
                                           {"flood", &make_flood, &share_of_flood},
                                           {"vis", &make_vis, &bench::vis::share_of},
                                           {"fetch-add", &make_fetch_add, &bench::fetch_add::share_of},
                                           {"barrier", &make_barrier},
                                           {"random-access", &make_random_access, &bench::random_access::share_of}};
  return all;
}

}  // namespace gasmeter::networks::shm::raw

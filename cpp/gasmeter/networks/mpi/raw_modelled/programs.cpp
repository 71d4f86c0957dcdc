#include "gasmeter/networks/mpi/raw_modelled/programs.hpp"

namespace gasmeter::networks::mpi::raw_modelled {

const RawPrograms<Context<sim::ModelHost>>& programs() {
  static const RawPrograms<Context<sim::ModelHost>> all = {{"ping-pong", &make_ping_pong<sim::ModelHost>},
                                                           {"flood", &make_flood<sim::ModelHost>},
                                                           {"random-access", &make_random_access<sim::ModelHost>}};
  return all;
}

}  // namespace gasmeter::networks::mpi::raw_modelled

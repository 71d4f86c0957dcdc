#include "gasmeter/networks/mpi/raw/programs.hpp"

namespace gasmeter::networks::mpi::raw {

const RawPrograms<Context>& programs() {
  static const RawPrograms<Context> all = {
      {"ping-pong", &make_ping_pong}, {"flood", &make_flood}, {"random-access", &make_random_access}};
  return all;
}

}  // namespace gasmeter::networks::mpi::raw

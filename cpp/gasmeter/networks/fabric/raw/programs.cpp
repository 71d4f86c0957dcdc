#include "gasmeter/networks/fabric/raw/programs.hpp"

namespace gasmeter::networks::fabric::raw {

const RawPrograms<Context>& programs() {
  static const RawPrograms<Context> all = {{"simulator", &make_simulator, &share_of_simulator}};
  return all;
}

}  // namespace gasmeter::networks::fabric::raw

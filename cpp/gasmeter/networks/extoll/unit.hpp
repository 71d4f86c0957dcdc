// Building blocks of a card's units.
#pragma once

#include "gasmeter/sim/fabric/unit.hpp"

namespace gasmeter::networks::extoll {

using sim::FifoServer;
using sim::Pipeline;

}  // namespace gasmeter::networks::extoll

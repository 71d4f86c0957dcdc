// Hosts whose caches are switched off: every instruction is fetched from memory, and every load and store goes there.
//
// Prices of software then follow from its instructions, its loads and stores, and the bytes it copies. Prices with
// caches do not enter.
#pragma once

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/networks/ethernet/parameters.hpp"

namespace gasmeter::networks::ethernet {

// Instructions of each action that software is charged for.
struct Instructions {
  conduit::InstructionCounts counted;  // instructions of protocol code
  unsigned copy_start = 1;
  unsigned update = 1;
  unsigned clock_read = 1;
  unsigned poll_miss = 1;
  unsigned send = 1;
  unsigned fragment = 1;
  unsigned interrupt = 1;
  unsigned input = 1;
  unsigned wake_up = 1;
  unsigned receive = 1;
  unsigned ioctl = 1;
};

struct UncachedHost {
  SimTime instruction;         // time of an instruction, its share of a fetch from memory included
  SimTime access;              // additional time of a load or store
  unsigned accesses = 1;       // loads and stores of 100 instructions
  Bytes copied_at_a_time = 1;  // bytes by one load and one store of a copy
  Instructions instructions;

  [[nodiscard]] SimTime time_of(unsigned count) const {
    return instruction * count + SimTime{(access * count * accesses).ps / 100};
  }
};

// Read the keys "host.uncached_*" and all keys that end in "_instructions". `counted` has the instructions of protocol
// code.
[[nodiscard]] UncachedHost uncached_host(conduit::MachineValues& machine, const conduit::InstructionCounts& counted);

// Replace every price of software by its price without caches. Prices of cards, wires and memory bandwidth stay. Throws
// UsageError for prices whose instructions are unknown.
void switch_caches_off(const UncachedHost& host, conduit::HostPrices& prices, EthernetParameters& parameters);

}  // namespace gasmeter::networks::ethernet

// Hosts whose caches are switched off: every instruction is fetched from memory, and every load and store goes there.
//
// What a piece of software takes then follows from what it does, not from what it takes with caches: so many
// instructions, so many of them loads and stores, so many bytes copied.
#pragma once

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/networks/ethernet/parameters.hpp"

namespace gasmeter::networks::ethernet {

// Instructions of each thing that software is charged for.
struct Instructions {
  conduit::InstructionCounts counted;  // of protocol code
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
  SimTime instruction;         // its share of a fetch from memory, and what it does
  SimTime access;              // one load or store, beside that
  unsigned accesses = 1;       // loads and stores of 100 instructions
  Bytes copied_at_a_time = 1;  // by one load and one store of a copy
  Instructions instructions;

  [[nodiscard]] SimTime time_of(unsigned count) const {
    return instruction * count + SimTime{(access * count * accesses).ps / 100};
  }
};

// Takes "host.uncached_*" and all keys that end in "_instructions"; of protocol code `counted` says how many there are.
[[nodiscard]] UncachedHost uncached_host(conduit::MachineValues& machine, const conduit::InstructionCounts& counted);

// Every price of software is what it takes without caches; cards, wires and the bandwidth of memory stay as they are.
// Throws UsageError for prices of which no instructions are known.
void switch_caches_off(const UncachedHost& host, conduit::HostPrices& prices, EthernetParameters& parameters);

}  // namespace gasmeter::networks::ethernet

// The seam between real and modelled time: what a host offers to core, pgas and kernels.
//
// A host is a policy type, not a base class. On a real host (base/real_host.hpp) each call is the work itself, inline;
// on a model host (sim/model_host.hpp) it also charges the machine's price and decides when other ranks see it.
// Nothing else in core, pgas or kernels knows which time it is.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include "gasmeter/base/stamps.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::conduit {

// Prices of work on the rank's own core. They only advance the rank's clock.
enum class PrivatePrice : std::uint8_t {
  call,           // entering one operation of the library
  header_build,   // packing a message header and its arguments
  dispatch,       // handler table look-up and the call
  poll_miss,      // a poll that finds nothing
  update,         // one read-modify-write of a kernel on a table, by the table's bytes (0: a large one)
  system_call,    // entering the kernel and returning
  own_lock,       // taking and releasing a free lock that only threads of the rank's own process know
  two_sided,      // a message of a two-sided layer at one side: request object, envelope, progress
  match,          // its matching, by the list elements that are looked at
  piece_copy,     // a small piece of a transfer of many, with its bytes, in place of a copy; 0: it is a copy
  loop_turn,      // by the turns of its loops: counter, bounds, addresses
  loop_level,     // by how often one of them begins, and ends
  translation,    // by the addresses of a neighbour that are looked up
  describe,       // reading a description of pieces, by the instructions that it takes
  clock_read,     // a library asks for the time, for its timers
  generate,       // a program stores what it makes itself, by its bytes; no price: it costs what copying them does
  shared_access,  // a compiler's run time does one access to shared data: owner, phase and address, and a call into it
  handle_translation,  // a target finds what a shared object's handle means: directory, bounds
  address_look_up,     // a look-up in a cache of remote addresses, or a change of it
  temporary,    // memory of its own for one message that is made before it is sent: taken and given back, by its bytes
  inject,       // a message's way through core and conduit to the device, beside its header; priced where it is counted
  deliver,      // ... and from the poll that finds it to its handler, beside dispatch; likewise
  instruction,  // what a program computes itself, by its instructions
  count_
};

// Prices of what ranks share: NIC, bus, lock, a neighbour's cache line. The host synchronises before it charges them,
// since a rank that runs ahead must not change its node mates' past.
enum class SharedPrice : std::uint8_t {
  line_store,      // storing a cache line that another rank reads
  line_transfer,   // loading a cache line that another rank wrote
  nic_post,        // handing one descriptor or packet to the network
  nic_take,        // taking one arrived packet from the network
  pio_store,       // one burst of write-combined stores to a device, by its bytes
  device_read,     // one uncached read of a device
  lock,            // taking and releasing a lock that nobody holds
  registration,    // pinning memory and telling a device of it, by its bytes
  deregistration,  // undoing that
  count_
};

struct Price {
  SimTime fixed;                 // per call
  std::int64_t per_byte_fs = 0;  // femtoseconds per byte
  Bytes cache = 0;               // of at most so many bytes (but some): `cached` instead
  SimTime cached{};
  [[nodiscard]] constexpr bool is_none() const { return fixed.ps == 0 && per_byte_fs == 0; }
  [[nodiscard]] constexpr SimTime of(Bytes bytes) const {
    if (bytes != 0 && bytes <= cache) return cached;
    return fixed + SimTime::of_bytes(per_byte_fs, bytes);
  }
};

// The price list of a modelled host; a machine file fills it.
struct HostPrices {
  std::array<Price, static_cast<std::size_t>(PrivatePrice::count_)> on_own_core{};
  std::array<Price, static_cast<std::size_t>(SharedPrice::count_)> on_shared{};
  Price copy;
  // What all ranks of a node share: copies of at least `memory_from` bytes do not stay in a core's caches.
  std::int64_t memory_per_byte_fs = 0;  // 0: no limit
  Bytes memory_from = 32 * 1024;

  [[nodiscard]] constexpr const Price& operator[](PrivatePrice p) const {
    return on_own_core[static_cast<std::size_t>(p)];
  }
  [[nodiscard]] constexpr const Price& operator[](SharedPrice p) const {
    return on_shared[static_cast<std::size_t>(p)];
  }
  [[nodiscard]] constexpr Price& operator[](PrivatePrice p) { return on_own_core[static_cast<std::size_t>(p)]; }
  [[nodiscard]] constexpr Price& operator[](SharedPrice p) { return on_shared[static_cast<std::size_t>(p)]; }
};

// What a time stamp of a real rank says.
[[nodiscard]] constexpr std::uint8_t stamp_code(PrivatePrice price) {
  return static_cast<std::uint8_t>(price);
}
[[nodiscard]] constexpr std::uint8_t stamp_code(SharedPrice price) {
  return static_cast<std::uint8_t>(0x40U + static_cast<unsigned>(price));
}

// What a host type has to offer. Hosts are values, cheap to copy (a real one is empty or a flag, a model host a
// pointer).
template <class H>
concept Host = requires(H host, const H& view, void* to, const void* from, Bytes bytes, SimTime time, Rank rank) {
  { H::kModelled } -> std::convertible_to<bool>;
  { H::kThreads } -> std::convertible_to<bool>;  // several threads may call one endpoint
  { H::kStamped } -> std::convertible_to<bool>;  // calls that carry messages leave time stamps
  { view.now() } -> std::same_as<SimTime>;
  { host.read_clock() } -> std::same_as<SimTime>;    // for a figure: what has been taken from the rank counts
  host.copy(to, from, bytes);                        // memory to memory, at the host's copy price
  host.charge(PrivatePrice::call, bytes);            // own core: the clock moves, nothing else
  host.charge_shared(SharedPrice::nic_post, bytes);  // synchronises, then charges
  host.synchronise();                                // before any load or store that another rank can make or see
  host.notify(rank);                                 // after a store that a rank of this node may be waiting for
  host.mark(Mark::begin);                            // for traces; moves no clock
  host.idle(time);                                   // one step of a wait; at the latest until `time`
  host.describe_wait("barrier");                     // a literal or null: what a report of a deadlock shall say
};

}  // namespace gasmeter::conduit

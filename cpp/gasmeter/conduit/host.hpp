// The interface between real and modelled time: services that a host offers to core, pgas and kernels.
//
// A host is a policy type, not a base class. On a real host (base/real_host.hpp) each call does the work itself,
// inline. A model host (sim/engine/model_host.hpp) also charges the machine's price and decides when other ranks see
// the effect. No other code in core, pgas or kernels depends on the kind of time.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include "gasmeter/base/stamps.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::conduit {

// Prices of work on the rank's own core, which advance only the rank's clock.
enum class PrivatePrice : std::uint8_t {
  call,           // entering one operation of the library
  header_build,   // packing a message header and its arguments
  dispatch,       // handler table look-up and the call
  poll_miss,      // a poll that finds nothing
  update,         // one read-modify-write of a kernel on a table, by the table's bytes (0: a large table)
  system_call,    // entering the kernel and returning
  own_lock,       // taking and releasing a free lock that is private to the rank's process
  two_sided,      // a message of a two-sided layer at one side: request object, envelope, progress
  match,          // the matching of such a message, by the list elements inspected
  piece_copy,     // a small piece of a larger transfer, with its bytes, in place of a copy; price 0: it costs a copy
  loop_turn,      // the turns of loops over pieces: counter, bounds, addresses
  loop_level,     // begin and end of such a loop, by the number of loops begun
  translation,    // look-ups of a neighbour's address, by their number
  describe,       // reading a description of pieces, by instructions
  clock_read,     // the library reads the clock for its timers
  generate,       // a program stores data that it generates, by its bytes; without a price it costs as much as a copy
  shared_access,  // a compiler's run time does one access to shared data: owner, phase and address, and a call into it
  handle_translation,  // a target translates a shared object's handle: directory, bounds
  address_look_up,     // a look-up in a cache of remote addresses, or a change of the cache
  temporary,           // temporary memory of a message made before it is sent: allocation and release, by its bytes
  // The path of a message through core and conduit to the device, without its header. Only counted instructions
  // price it.
  inject,
  // The path from the poll that finds a message to its handler, without dispatch. Only counted instructions price it.
  deliver,
  instruction,  // a program's own computation, by its instructions
  count_
};

// Prices of resources that ranks share: NIC, bus, lock, a neighbour's cache line. The host synchronises before it
// charges one, since a rank that runs ahead must not change its node mates' past.
enum class SharedPrice : std::uint8_t {
  line_store,      // storing a cache line that another rank reads
  line_transfer,   // loading a cache line that another rank wrote
  nic_post,        // handing one descriptor or packet to the network
  nic_take,        // taking one arrived packet from the network
  pio_store,       // one burst of write-combined stores to a device, by its bytes
  device_read,     // one uncached read of a device
  lock,            // taking and releasing a lock that nobody holds
  registration,    // pinning memory and registering it with a device, by its bytes
  deregistration,  // undoing a registration
  count_
};

struct Price {
  SimTime fixed;                 // per call
  std::int64_t per_byte_fs = 0;  // femtoseconds per byte
  Bytes cache = 0;               // `cached` is the price of 1 to `cache` bytes
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
  // Bandwidth that all ranks of a node share. Copies of at least `memory_from` bytes do not stay in a core's caches.
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

// Code of a real rank's time stamp for a price.
[[nodiscard]] constexpr std::uint8_t stamp_code(PrivatePrice price) {
  return static_cast<std::uint8_t>(price);
}
[[nodiscard]] constexpr std::uint8_t stamp_code(SharedPrice price) {
  return static_cast<std::uint8_t>(0x40U + static_cast<unsigned>(price));
}

// Requirements on a host type. Hosts are values and cheap to copy: a real host is empty or a flag, a model host a
// pointer.
template <class H>
concept Host = requires(H host, const H& view, void* to, const void* from, Bytes bytes, SimTime time, Rank rank) {
  { H::kModelled } -> std::convertible_to<bool>;
  { H::kThreads } -> std::convertible_to<bool>;  // several threads may call one endpoint
  { H::kStamped } -> std::convertible_to<bool>;  // calls that carry messages leave time stamps
  { view.now() } -> std::same_as<SimTime>;
  // For a measured value: includes time taken from the rank by interrupts
  { host.read_clock() } -> std::same_as<SimTime>;
  host.copy(to, from, bytes);                        // from memory to memory, at the host's copy price
  host.charge(PrivatePrice::call, bytes);            // price on the own core: only the clock moves
  host.charge_shared(SharedPrice::nic_post, bytes);  // synchronise, then charge
  host.synchronise();                                // before any load or store that another rank can make or see
  host.notify(rank);                                 // after a store that a rank of this node may be waiting for
  host.mark(Mark::begin);                            // for traces; does not move the clock
  host.idle(time);                                   // one step of a wait; returns at `time` at the latest
  host.describe_wait("barrier");                     // text for the report of a deadlock: a literal or null
};

}  // namespace gasmeter::conduit

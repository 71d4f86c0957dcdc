// The part of a machine that every modelled network has: its host.
#pragma once

#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/machine_values.hpp"

namespace gasmeter::conduit {

inline constexpr Bytes kPageBytes = 4096;  // what memory is registered by

// Takes all keys "host.*": times call, header_build, dispatch, poll_miss, update, system_call, copy_start, line_store,
// line_transfer, pio_start, uncached_read, lock, registration, registration_per_page; bandwidths copy_bandwidth,
// pio_bandwidth, memory_bandwidth (of the whole node). nic_post and nic_take stay 0: devices are made of the others.
[[nodiscard]] HostPrices host_prices(MachineValues& machine);

}  // namespace gasmeter::conduit

// Raw programs on a modelled socket, the same as on real sockets (bench).
#pragma once

#include "gasmeter/bench/raw_datagrams.hpp"
#include "gasmeter/networks/ethernet/raw_socket.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::ethernet::raw {

// Context that a raw program runs in.
using Context = bench::RawSockets<RawSocket>;

// Raw programs, one for each kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::ethernet::raw

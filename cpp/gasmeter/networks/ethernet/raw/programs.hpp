// The raw variants of kernels on a modelled socket: those of real sockets (bench).
#pragma once

#include "gasmeter/bench/raw_datagrams.hpp"
#include "gasmeter/networks/ethernet/raw_socket.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::ethernet::raw {

// What a program gets.
using Context = bench::RawSockets<RawSocket>;

// By kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::ethernet::raw

// The raw variants of kernels on this host's UDP sockets, besides those that modelled sockets have, too (bench).
#pragma once

#include <memory>

#include "gasmeter/bench/raw_datagrams.hpp"
#include "gasmeter/networks/network.hpp"
#include "gasmeter/networks/udp/raw_datagrams.hpp"

namespace gasmeter::networks::udp::raw {

using Context = bench::RawSockets<RawDatagrams>;

[[nodiscard]] std::unique_ptr<Program> make_random_access(Context context, const Settings& settings);

// By kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::udp::raw

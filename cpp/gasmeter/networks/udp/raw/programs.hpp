// Raw programs of kernels on this host's UDP sockets. Programs that modelled sockets share are in bench.
#pragma once

#include <memory>

#include "gasmeter/bench/raw_datagrams.hpp"
#include "gasmeter/networks/network.hpp"
#include "gasmeter/networks/udp/raw_datagrams.hpp"

namespace gasmeter::networks::udp::raw {

using Context = bench::RawSockets<RawDatagrams>;

[[nodiscard]] std::unique_ptr<Program> make_random_access(Context context, const Settings& settings);

// Raw programs, one for each kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::udp::raw

// The raw variants of kernels on UDP sockets.
#pragma once

#include <memory>

#include "gasmeter/kernels/kernel.hpp"

namespace gasmeter::kernels::raw_udp {

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(RawUdp context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(RawUdp context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_random_access(RawUdp context, const Settings& settings);

// Largest payload of the raw programs' datagrams: what public measurements of loopback use.
inline constexpr Bytes kDatagram = 60'000;

}  // namespace gasmeter::kernels::raw_udp

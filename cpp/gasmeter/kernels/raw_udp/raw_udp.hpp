// The raw variants of kernels on UDP sockets.
#pragma once

#include <memory>

#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/networks/udp/raw_datagrams.hpp"

namespace gasmeter::kernels::raw_udp {

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(RawUdp context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(RawUdp context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_random_access(RawUdp context, const Settings& settings);

// Largest payload of the raw programs' datagrams: what public measurements of loopback use.
inline constexpr Bytes kDatagram = 60'000;

// A barrier of ranks 0 and 1 that ends within one datagram's flight: the other barrier wakes a rank that sleeps, and
// its wake-up would be timed by the rank that is awake already.
inline void start_together(RawUdp& context) {
  context.barrier();
  std::uint64_t word = 0;
  if (context.rank == Rank{0}) (void)context.socket.receive(&word, sizeof word);
  if (context.rank == Rank{1}) context.socket.send(Rank{0}, &word, sizeof word);
}

}  // namespace gasmeter::kernels::raw_udp

// The raw variants of kernels on UDP sockets, real ones and modelled ones.
#pragma once

#include <memory>

#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/mutants.hpp"
#include "gasmeter/networks/ethernet/raw_socket.hpp"
#include "gasmeter/networks/udp/raw_datagrams.hpp"

namespace gasmeter::kernels::raw_udp {

// Context: RawUdp or RawEthernet.
template <class Context>
[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
template <class Context>
[[nodiscard]] std::unique_ptr<Program> make_flood(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_random_access(RawUdp context, const Settings& settings);

// Largest payload of the raw programs' datagrams: what public measurements of loopback use.
inline constexpr Bytes kDatagram = 60'000;

// What is measured leaves by this.
template <class Context>
GASMETER_INLINE void send(Context& context, Rank to, const void* bytes, Bytes count) {
  mutants::message(bytes, count, [&](const void* data) { context.socket.send(to, data, count); });
}

// A barrier of ranks 0 and 1 that ends within one datagram's flight: the other barrier wakes a rank that sleeps, and
// its wake-up would be timed by the rank that is awake already.
template <class Context>
void start_together(Context& context) {
  context.barrier();
  std::uint64_t word = 0;
  if (context.rank == Rank{0}) (void)context.socket.receive(&word, sizeof word);
  if (context.rank == Rank{1}) context.socket.send(Rank{0}, &word, sizeof word);
}

}  // namespace gasmeter::kernels::raw_udp

// Raw programs on sockets, real and modelled: their context, and their common parts.
#pragma once

#include <cstdint>
#include <functional>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/mutants.hpp"

namespace gasmeter::bench {

template <class AnySocket>
struct RawSockets {
  using Socket = AnySocket;
  Socket& socket;
  Rank rank;
  std::uint32_t ranks;
  std::function<void()> barrier;  // slow, by another path than the measured one; outside of timed parts
};

// Largest payload of the raw programs' datagrams, as in public measurements of loopback.
inline constexpr Bytes kDatagram = 60'000;

// Send a measured datagram.
template <class Context>
GASMETER_INLINE void hand_over(Context& context, Rank to, const void* bytes, Bytes count) {
  mutants::message(bytes, count, [&](const void* data) { context.socket.send(to, data, count); });
}

// Let ranks 0 and 1 start within one datagram's flight. The context's barrier wakes a rank that sleeps, and the rank
// that is already awake would time that wake-up.
template <class Context>
void start_together(Context& context) {
  context.barrier();
  std::uint64_t word = 0;
  if (context.rank == Rank{0}) (void)context.socket.receive(&word, sizeof word);
  if (context.rank == Rank{1}) context.socket.send(Rank{0}, &word, sizeof word);
}

}  // namespace gasmeter::bench

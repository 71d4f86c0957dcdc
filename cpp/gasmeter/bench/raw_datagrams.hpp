// Raw programs on sockets, real and modelled: what they get, and what they have in common.
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
  std::function<void()> barrier;  // slow, by another way than what is measured; outside what is timed
};

// Largest payload of the raw programs' datagrams: what public measurements of loopback use.
inline constexpr Bytes kDatagram = 60'000;

// What is measured leaves by this.
template <class Context>
GASMETER_INLINE void hand_over(Context& context, Rank to, const void* bytes, Bytes count) {
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

}  // namespace gasmeter::bench

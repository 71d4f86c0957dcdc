// What a fabric keeps of its links. For the sources of Fabric alone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/sim/fabric.hpp"

namespace gasmeter::sim {

inline constexpr std::uint32_t kMostChannels = 2;  // of any topology
inline constexpr SimTime kSettled{-1};

// What a link's near end keeps only while buffers at the far end are short.
struct Fabric::Shortage : Action {
  Shortage() : Action(&Fabric::on_retry) {}

  Fabric* fabric = nullptr;
  std::uint32_t link = 0;
  std::uint32_t vertex = 0;
  std::uint32_t waiting = 0;  // packets, all channels; of a train those that came together count as one
  SimTime retry_at = kNever;  // when it looks for free buffers again
  std::uint64_t packets = 0;  // that had to wait, ever
  std::array<PacketQueue, kMostChannels> blocked;
  std::array<CreditsComing, kMostChannels> returned;
};

// Packets of a train that have an output's promise although they are not all there yet: nothing was in their way when
// the first one came.
struct Fabric::OpenTrain {
  Train* train = nullptr;   // null: none
  std::uint32_t first = 0;  // packets [first, first + count)
  std::uint32_t count = 0;
  SimTime arrival;        // of the head of the first one, the others `gap` after one another
  SimTime gap;            //
  SimTime start;          // over the link, likewise
  SimTime start_gap;      //
  SimTime waited;         // Output::longest_wait without it
  Tie tie = 0;            // of the arrivals
  Route route;            // before this hop
  std::uint32_t link = 0;         // input
  std::uint32_t channel = 0;      // of the input
  std::uint32_t out_channel = 0;
  std::uint32_t burst = 1;  // packets that the next one may be promised: few where trains have been cut
};

// One direction of a link, at the vertex where it begins: a cache line.
struct alignas(kCacheLine) Fabric::Output {
  SimTime free;                                     // when the last byte of what has been sent has left
  std::array<std::uint32_t, kMostChannels> used{};  // buffers at the far end
  std::uint32_t to = kNoLink;                       // vertex; kNoLink: no link at this port
  std::uint32_t packets = 0;
  std::uint64_t bytes = 0;
  SimTime longest_wait;
  SimTime unsettled = kSettled;  // who comes until then has to see to a train first
  std::unique_ptr<Shortage> shortage;
  std::unique_ptr<OpenTrain> open;
};

}  // namespace gasmeter::sim

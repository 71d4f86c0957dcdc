// What a fabric keeps of its links. For the sources of Fabric alone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/sim/fabric.hpp"

namespace gasmeter::sim {

inline constexpr SimTime kSettled{-1};

// One direction of a link, at the vertex where it begins: a cache line.
struct alignas(kCacheLine) Fabric::Output {
  SimTime free;                                     // when the last byte of what has been sent has left
  std::array<std::uint32_t, kMostChannels> room{};  // buffers at the far end, as far as is known here
  SimTime unsettled = kSettled;                     // who comes until then has to see to a train first
  std::uint32_t to = kNoLink;                       // vertex at the other end, also where only a link from there is
  std::uint32_t far_end = 0;                        // port there, in outputs_
  std::uint32_t packets = 0;
  std::uint32_t link_class = kNoLink;  // kNoLink: no link begins here
  std::uint64_t bytes = 0;
  SimTime longest_wait;
  std::unique_ptr<Shortage> shortage;
};

GASMETER_INLINE const Fabric::LinkCost& Fabric::cost_of(const Output& output) const {
  return costs_[output.link_class];
}

}  // namespace gasmeter::sim

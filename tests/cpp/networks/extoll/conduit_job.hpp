// Conduits without core. A test sends and takes messages itself.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "gasmeter/networks/extoll/extoll_conduit.hpp"
#include "support/conduit_calls.hpp"
#include "support/pattern.hpp"
#include "world.hpp"

namespace gasmeter::networks::extoll::testing {

inline const ExtollParameters kRoomy{.mailbox_slots = 512, .read_pointer_update = 16};

inline AmOptions with_memory(AmOptions options, bool node_by_memory) {
  options.node_by_memory = node_by_memory;
  return options;
}
inline const std::array<AmOptions, 4> kAllWays{AmOptions::improved(), AmOptions::early(),
                                               with_memory(AmOptions::improved(), false),
                                               with_memory(AmOptions::early(), false)};

struct Job : World {
  explicit Job(const Shape& shape = {}, const ExtollParameters& parameters = kRoomy, const AmOptions& options = {})
      : World(shape, parameters), segments(shape.ranks) {
    for (unsigned i = 0; i < shape.ranks; ++i) {
      conduits.push_back(std::make_unique<ExtollConduit>(network, host(i), Rank{i}, options));
    }
  }
  // Attach memory of a rank as the destination of Longs.
  std::byte* segment(unsigned rank, Bytes bytes) {
    segments[rank].resize(bytes);
    conduits[rank]->attach(segments[rank]);
    return segments[rank].data();
  }
  std::vector<std::unique_ptr<ExtollConduit>> conduits;
  std::vector<std::vector<std::byte>> segments;
};

using gasmeter::testing::header_to;
using gasmeter::testing::patterned;
using gasmeter::testing::Sink;
using gasmeter::testing::try_send;
using gasmeter::testing::wait;

// Send a message. Take messages that arrive until there is room.
inline void send_am(conduit::Conduit& conduit, sim::ModelHost host, Sink& sink, const conduit::AmHeader& header,
                    std::span<const std::int32_t> arguments = {}, std::span<const std::byte> payload = {},
                    void* destination = nullptr) {
  wait(conduit, host, sink, [&] { return try_send(conduit, header, arguments, payload, destination) == Status::ok; });
}

}  // namespace gasmeter::networks::extoll::testing

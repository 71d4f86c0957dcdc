// A job whose ranks have a conduit and a segment each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/networks/sci/sci_conduit.hpp"
#include "networks/sci/world.hpp"
#include "support/conduit_calls.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::sci::testing {

using bench::AlignedBuffer;  // aligned as the segments of jobs are, so that offsets tell the alignment

struct Job : World {
  explicit Job(const Shape& shape = {}, const SciOptions& options = {}, const SciParameters& parameters = {},
               const DriverSettings& driver = {}, Bytes bytes = 1U << 16U)
      : World(shape, parameters, driver), boxes(shape.ranks) {
    for (unsigned i = 0; i < shape.ranks; ++i) {
      segments.emplace_back(bytes);
      conduits.push_back(std::make_unique<SciConduit>(sisci(i), host(i), shape.ranks, options, boxes));
      conduits[i]->attach(segments[i]);
    }
  }
  std::byte* at(unsigned rank, Bytes offset = 0) { return segments[rank].data() + offset; }

  services::AmBoxes boxes;
  std::deque<AlignedBuffer> segments;
  std::vector<std::unique_ptr<SciConduit>> conduits;
};

using gasmeter::testing::has_pattern;
using gasmeter::testing::header_to;
using gasmeter::testing::patterned;
using gasmeter::testing::Sink;
using gasmeter::testing::try_send;
using gasmeter::testing::wait;
using gasmeter::testing::write_pattern;

// Poll until `end`: a peer may still wait for something that only this rank's polls send.
inline void poll_until(conduit::Conduit& conduit, sim::ModelHost host, Sink& sink, SimTime end) {
  while (host.now() < end) {
    if (conduit.poll(sink, 16, conduit::PollFilter::everything) == 0) host.idle(end);
  }
}

// Return the header of a reply, for the handler of a request.
inline conduit::AmHeader reply_to(const conduit::AmView& request, conduit::Category category, unsigned arguments = 0) {
  conduit::AmHeader header = header_to(index(request.source), category, arguments, true);
  header.cookie = request.cookie;
  return header;
}

// Send a message. Take messages that arrive until there is room.
inline void send_am(conduit::Conduit& conduit, sim::ModelHost host, Sink& sink, const conduit::AmHeader& header,
                    std::span<const std::byte> payload = {}, void* destination = nullptr,
                    std::span<const std::int32_t> arguments = {}) {
  wait(conduit, host, sink, [&] { return try_send(conduit, header, arguments, payload, destination) == Status::ok; });
}

}  // namespace gasmeter::networks::sci::testing

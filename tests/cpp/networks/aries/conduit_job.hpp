// A job whose ranks have a conduit and a segment each.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "gasmeter/networks/aries/aries_conduit.hpp"
#include "networks/aries/world.hpp"

namespace gasmeter::networks::aries::testing {

struct Job : World {
  explicit Job(const Shape& shape = {}, const AriesOptions& options = {}, const AriesParameters& parameters = {},
               Bytes bytes = 1U << 18U)
      : World(shape, parameters, 64),
        memory_of_job(shape.ranks, options),
        segments(shape.ranks, std::vector<std::byte>(bytes)) {
    for (unsigned i = 0; i < shape.ranks; ++i) {
      conduits.push_back(std::make_unique<AriesConduit>(domain(i), host(i), options, memory_of_job));
      conduits[i]->attach(segments[i]);
    }
  }
  std::byte* segment(unsigned rank, Bytes offset = 0) { return segments[rank].data() + offset; }

  JobMemory memory_of_job;
  std::vector<std::vector<std::byte>> segments;
  std::vector<std::unique_ptr<AriesConduit>> conduits;
};

// Resources of the sender that a message or a transfer takes.
struct Resources {
  std::size_t reply_slots = 0;
  unsigned slots = 0;  // of rank 1's area, in use
  std::size_t descriptors = 0;
  std::size_t bounces = 0;
  bool operator==(const Resources&) const = default;

  static Resources of(const AriesConduit& conduit) {
    return {conduit.free_reply_slots(), conduit.slots().used(Rank{1}), conduit.descriptors().free(),
            conduit.descriptors().free_bounces()};
  }
};

}  // namespace gasmeter::networks::aries::testing

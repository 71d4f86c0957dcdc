// A job whose ranks have a conduit and a segment each.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "gasmeter/networks/portals/portals_conduit.hpp"
#include "networks/portals/world.hpp"

namespace gasmeter::networks::portals::testing {

struct Job : World {
  explicit Job(const Shape& shape = {}, const PortalsOptions& options = {}, const PortalsParameters& parameters = {},
               Bytes bytes = 1U << 18U)
      : World(shape, parameters, 64), bases(shape.ranks), segments(shape.ranks, std::vector<std::byte>(bytes)) {
    for (unsigned i = 0; i < shape.ranks; ++i) {
      conduits.push_back(std::make_unique<PortalsConduit>(portals(i), host(i), shape.ranks, options, bases));
      conduits[i]->attach(segments[i]);
    }
  }
  SegmentBases bases;
  std::vector<std::vector<std::byte>> segments;
  std::vector<std::unique_ptr<PortalsConduit>> conduits;
};

}  // namespace gasmeter::networks::portals::testing

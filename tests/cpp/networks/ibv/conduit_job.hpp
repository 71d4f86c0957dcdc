// A job whose ranks have a conduit and a segment each.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "gasmeter/networks/ibv/ibv_conduit.hpp"
#include "networks/ibv/world.hpp"

namespace gasmeter::networks::ibv::testing {

struct Job : World {
  explicit Job(const Shape& shape = {}, const IbvLimits& limits = {}, const IbvParameters& parameters = {},
               Bytes bytes = 1U << 18U, bool node_by_memory = false)
      : World(shape, parameters, 64), boxes(shape.ranks), segments(shape.ranks, std::vector<std::byte>(bytes)) {
    for (unsigned i = 0; i < shape.ranks; ++i) {
      conduits.push_back(
          std::make_unique<IbvConduit>(context(i), host(i), shape.ranks, limits, node_by_memory ? &boxes : nullptr));
      conduits[i]->attach(segments[i]);
    }
  }
  services::AmBoxes boxes;
  std::vector<std::vector<std::byte>> segments;
  std::vector<std::unique_ptr<IbvConduit>> conduits;
};

}  // namespace gasmeter::networks::ibv::testing

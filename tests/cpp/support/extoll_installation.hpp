// A row of EXTOLL cards for ModelWorldOn.
#pragma once

#include <memory>
#include <string>

#include "gasmeter/networks/extoll/extoll_conduit.hpp"
#include "gasmeter/networks/extoll/extoll_network.hpp"
#include "networks/extoll/world.hpp"
#include "support/model_world.hpp"

namespace gasmeter::testing {

class ExtollInstallation {
 public:
  static sim::EngineOptions options(const ModelShape& shape) {
    return networks::extoll::testing::World::options(
        {.ranks = shape.ranks, .topology = topology(shape), .strict = shape.strict});
  }
  ExtollInstallation(sim::Engine& engine, const ModelShape& shape)
      : network_(engine, sim::Topology::parse(topology(shape)), {.mailbox_slots = 64, .read_pointer_update = 16}) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    return std::make_unique<networks::extoll::ExtollConduit>(network_, host, host.rank(),
                                                             networks::extoll::AmOptions::improved());
  }

 private:
  static std::string topology(const ModelShape& shape) { return "mesh2d:" + std::to_string(shape.nodes) + "x1"; }

  networks::extoll::ExtollNetwork network_;
};

}  // namespace gasmeter::testing

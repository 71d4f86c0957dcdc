// Ranks of a shared space in virtual time on the toy network, with prices for the space's work.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gasmeter/pgas/space.hpp"
#include "support/model_world.hpp"

namespace gasmeter::pgas::testing {

using gasmeter::testing::ModelShape;
using sim::ModelHost;
using Endpoint = core::Endpoint<ModelHost>;
using Space = SharedSpace<ModelHost>;

inline constexpr SimTime kTranslation{300'000};
inline constexpr SimTime kLookUp{50'000};

template <bool NativePuts>
class PricedInstallation {
 public:
  static sim::EngineOptions options(const ModelShape& shape) {
    sim::EngineOptions options = gasmeter::testing::IdealInstallation::options(shape);
    options.prices[conduit::PrivatePrice::handle_translation].fixed = kTranslation;
    options.prices[conduit::PrivatePrice::address_look_up].fixed = kLookUp;
    return options;
  }
  PricedInstallation(sim::Engine& engine, const ModelShape& /*shape*/) : network_(engine) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(ModelHost host) {
    return std::make_unique<networks::ideal::IdealConduit>(
        network_, host, host.rank(), networks::ideal::IdealOptions{.native_puts = NativePuts, .pins = pins});
  }
  static inline std::optional<conduit::PinLimits> pins{};

 private:
  networks::ideal::IdealNetwork network_;
};

template <bool NativePuts = false>
class PgasWorldOn {
 public:
  explicit PgasWorldOn(const ModelShape& shape, const SpaceOptions& options = {}) : world_(shape) {
    for (unsigned rank = 0; rank < shape.ranks; ++rank) {
      spaces_.push_back(std::make_unique<Space>(world_.endpoint(rank), options));
    }
  }
  [[nodiscard]] Space& space(std::uint32_t rank) { return *spaces_[rank]; }
  [[nodiscard]] Endpoint& endpoint(std::uint32_t rank) { return world_.endpoint(rank); }
  // Run body(space) on every rank.
  template <class Body>
  void run(Body body) {
    world_.run([&](Endpoint& endpoint) { body(*spaces_[index(endpoint.rank())]); });
  }

 private:
  gasmeter::testing::ModelWorldOn<PricedInstallation<NativePuts>> world_;
  std::vector<std::unique_ptr<Space>> spaces_;
};
using PgasWorld = PgasWorldOn<>;

}  // namespace gasmeter::pgas::testing

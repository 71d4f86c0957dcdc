// Ranks in virtual time over a modelled network, the toy network by default; each conduit may be wrapped.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/networks/ideal/ideal_conduit.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "support/shared_block.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::testing {

struct ModelShape {
  unsigned ranks = 2;
  unsigned nodes = 2;
  bool neighbourhood = false;
  bool strict = false;
  Bytes segment_bytes = 64 * 1024;
  Bytes ring_bytes = 16 * 1024;
  bool poll_at_injection = false;
  core::Forms forms{};
};

// The description of a network that a world needs.
class IdealInstallation {
 public:
  static sim::EngineOptions options(const ModelShape& shape) {
    sim::EngineOptions result;
    result.ranks = shape.ranks;
    result.nodes = shape.nodes;
    result.prices = networks::ideal::ideal_prices();
    result.strict = shape.strict;
    return result;
  }
  IdealInstallation(sim::Engine& engine, const ModelShape& /*shape*/) : network_(engine) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    return std::make_unique<networks::ideal::IdealConduit>(network_, host, host.rank());
  }

 private:
  networks::ideal::IdealNetwork network_;
};

// `Shape`: what an installation needs besides an engine.
template <class Installation, class Shape = ModelShape>
class ModelWorldOn {
 public:
  using Endpoint = core::Endpoint<sim::ModelHost>;
  using Wrap = std::function<std::unique_ptr<conduit::Conduit>(conduit::Conduit& inner)>;

  explicit ModelWorldOn(const Shape& shape, const Wrap& wrap = {})
      : engine_(Installation::options(shape)), network_(engine_, shape) {
    std::vector<core::JobView> views;
    std::byte* block = nullptr;
    for (unsigned rank = 0; rank < shape.ranks; ++rank) {
      const std::span<const Rank> node = engine_.ranks_of(engine_.node_of(Rank{rank}));
      const unsigned first = shape.neighbourhood ? index(node.front()) : rank;
      const auto layout = layout_of(shape.neighbourhood ? static_cast<std::uint32_t>(node.size()) : 1, shape.ring_bytes,
                                    shape.segment_bytes);
      if (rank == first) {
        blocks_.push_back(std::make_unique<SharedBlock>(layout.total()));
        block = blocks_.back()->map();
      }
      segments_.push_back({block + layout.segment_at(rank - first), layout.segment_bytes});
      views.push_back({Rank{rank}, shape.ranks, Rank{first}, layout, block, {}});
    }
    for (core::JobView& view : views) {
      view.segments = segments_;
      const sim::ModelHost host = engine_.host(view.rank);
      conduits_.push_back(network_.conduit(host));
      if (wrap) conduits_.push_back(wrap(*conduits_.back()));
      endpoints_.push_back(std::make_unique<Endpoint>(host, view, conduits_.back().get()));
      endpoints_.back()->poll_at_injection(shape.poll_at_injection);
      endpoints_.back()->use(shape.forms);
    }
  }
  ModelWorldOn(const ModelWorldOn&) = delete;
  ModelWorldOn& operator=(const ModelWorldOn&) = delete;
  ~ModelWorldOn() { engine_.cancel(); }

  [[nodiscard]] sim::Engine& engine() { return engine_; }
  [[nodiscard]] Installation& installation() { return network_; }
  [[nodiscard]] Endpoint& endpoint(std::uint32_t rank) { return *endpoints_[rank]; }

  // Run body(endpoint) on every rank. An exception of one is thrown here, after all have been unwound.
  template <class Body>
  void run(Body body) {
    for (const auto& endpoint : endpoints_) {
      engine_.start(endpoint->rank(), [this, &body, each = endpoint.get()] {
        body(*each);
        settle(each->rank());
      });
    }
    try {
      engine_.run();
    } catch (...) {
      engine_.cancel();  // while the caller's objects still exist
      throw;
    }
  }

 private:
  // Let this rank pass on what others still lack.
  void settle([[maybe_unused]] Rank rank) {
    if constexpr (requires { network_.settle(rank); }) network_.settle(rank);
  }

  sim::Engine engine_;
  Installation network_;
  std::vector<std::unique_ptr<SharedBlock>> blocks_;
  std::vector<core::Segment> segments_;
  std::vector<std::unique_ptr<conduit::Conduit>> conduits_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
};

using ModelWorld = ModelWorldOn<IdealInstallation>;

}  // namespace gasmeter::testing

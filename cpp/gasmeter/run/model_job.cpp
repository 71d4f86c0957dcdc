#include "gasmeter/run/model_job.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/networks/ideal/ideal_conduit.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::run {
namespace {

using core::NeighbourhoodLayout;
using kernels::BlockResult;
using kernels::Verification;

constexpr std::uint32_t kMostRanks = 65536;

// Zeroed memory that costs nothing until it is touched.
class Block {
 public:
  explicit Block(Bytes bytes) : memory_(static_cast<std::byte*>(std::calloc(1, bytes + kNoSharing))) {
    if (memory_ == nullptr) {
      throw ResourceError("virtual ranks: no memory for " + std::to_string(bytes) + " bytes of segments and rings");
    }
  }
  [[nodiscard]] std::byte* data() const {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
    return memory_.get() + (kNoSharing - address % kNoSharing) % kNoSharing;
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
};

sim::EngineOptions engine_options(const Request& request) {
  const kernels::Settings& settings = request.settings;
  const std::int64_t nodes = settings.integer("nodes");
  if (settings.ranks > kMostRanks) {
    throw UsageError("ranks=" + std::to_string(settings.ranks) + "; virtual time carries 1.." +
                     std::to_string(kMostRanks));
  }
  if (nodes < 1 || nodes > static_cast<std::int64_t>(settings.ranks)) {
    throw UsageError("option 'nodes=" + std::to_string(nodes) + "': allowed are 1.." + std::to_string(settings.ranks) +
                     ", the number of ranks");
  }
  sim::EngineOptions options;
  options.ranks = settings.ranks;
  options.nodes = static_cast<unsigned>(nodes);
  options.prices = networks::ideal::ideal_prices();
  options.strict = settings.text("sync") == "strict";
  options.seed = settings.seed;
  return options;
}

}  // namespace

class ModelJob::State {
 public:
  explicit State(const Request& request)
      : engine_(engine_options(request)),
        network_(engine_),
        results_(request.settings.ranks),
        verifications_(request.settings.ranks) {
    if (request.is_raw()) {
      make_raw(request);
    } else {
      make(request);
    }
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      engine_.start(Rank{rank}, [this, rank] { serve(rank); });
    }
    engine_.run();  // every rank waits for its first command
  }
  ~State() { engine_.cancel(); }

  BlockResult run(std::uint64_t iterations) {
    command_ = {Command::block, iterations};
    engine_.run();
    return results_[0];
  }

  Verification verify() {
    command_ = {Command::verify, 0};
    engine_.run();
    Verification sum;
    for (const Verification& found : verifications_) {
      sum.checked += found.checked;
      sum.errors += found.errors;
      sum.allowed += found.allowed;
    }
    return sum;
  }

  void stop() noexcept { engine_.stop_token().request(); }

 private:
  using Endpoint = core::Endpoint<sim::ModelHost>;
  enum class Command : std::uint8_t { block, verify };
  struct Order {
    Command command = Command::block;
    std::uint64_t iterations = 0;
  };

  void serve(std::uint32_t rank) {
    for (;;) {
      engine_.park(Rank{rank});
      if (command_.command == Command::block) {
        results_[rank] = programs_[rank]->run(command_.iterations);
      } else {
        verifications_[rank] = programs_[rank]->verify();
      }
    }
  }

  void make_raw(const Request& request) {
    if (request.kernel->make_raw_ideal == nullptr) {
      throw UsageError("kernel " + request.settings.kernel + " has no raw variant on " + request.conduit->network);
    }
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      programs_.push_back(request.kernel->make_raw_ideal(
          {network_.nic(Rank{rank}), engine_.host(Rank{rank}), Rank{rank}, engine_.ranks()}, request.settings));
    }
  }

  void make(const Request& request) {
    const Bytes segment_bytes = request.kernel->plan(request.settings);
    const bool shared = request.settings.flag("neighbourhood");
    std::vector<core::JobView> views;
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      const std::span<const Rank> node = engine_.ranks_of(engine_.node_of(Rank{rank}));
      const std::uint32_t first = shared ? index(node.front()) : rank;
      const auto layout = NeighbourhoodLayout::of(shared ? static_cast<std::uint32_t>(node.size()) : 1, segment_bytes);
      if (rank == first) blocks_.emplace_back(layout.total());
      std::byte* block = blocks_.back().data();
      segments_.push_back({block + layout.segment_at(rank - first), layout.segment_bytes});
      views.push_back({Rank{rank}, engine_.ranks(), Rank{first}, layout, block, {}});
    }
    for (core::JobView& view : views) {
      view.segments = segments_;
      const sim::ModelHost host = engine_.host(view.rank);
      conduits_.push_back(std::make_unique<networks::ideal::IdealConduit>(network_, host, view.rank));
      endpoints_.push_back(std::make_unique<Endpoint>(host, view, conduits_.back().get()));
      programs_.push_back(request.kernel->make_model(*endpoints_.back(), request.settings));
    }
  }

  sim::Engine engine_;
  networks::ideal::IdealNetwork network_;
  std::vector<Block> blocks_;
  std::vector<core::Segment> segments_;
  std::vector<std::unique_ptr<networks::ideal::IdealConduit>> conduits_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::vector<std::unique_ptr<kernels::Program>> programs_;
  std::vector<BlockResult> results_;
  std::vector<Verification> verifications_;
  Order command_;
};

ModelJob::ModelJob(const Request& request) {
  if (!request.conduit->modelled) {
    throw UsageError("conduit " + request.conduit->name + " is measured on rank processes, not in virtual time");
  }
  state_ = std::make_unique<State>(request);
}

ModelJob::~ModelJob() = default;

BlockResult ModelJob::run(std::uint64_t iterations) {
  return state_->run(iterations);
}

Verification ModelJob::verify() {
  return state_->verify();
}

void ModelJob::stop() noexcept {
  state_->stop();
}

}  // namespace gasmeter::run

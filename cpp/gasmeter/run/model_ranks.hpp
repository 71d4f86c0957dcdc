// The ranks of a job in virtual time: an engine, a network for it, and of every rank memory, conduit and endpoint.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "gasmeter/conduit/holdings.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/run/composed_network.hpp"
#include "gasmeter/run/request.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::run {

class Setup;

class ModelRanks {
 public:
  using Endpoint = core::Endpoint<sim::ModelHost>;

  // Engine and network alone. Throws UsageError for what the machine cannot be. The request outlives it.
  explicit ModelRanks(const Request& request);
  ModelRanks(const ModelRanks&) = delete;
  ModelRanks& operator=(const ModelRanks&) = delete;
  ~ModelRanks();  // cancels

  // An endpoint for every rank, with a segment of that size. `wrap`: what stands between an endpoint and its conduit,
  // or null.
  using Wrap = std::function<std::unique_ptr<conduit::Conduit>(Rank, conduit::Conduit&)>;
  // `setup` is told of each, unless it is null.
  void make_endpoints(Bytes segment_bytes, const Wrap& wrap = nullptr, Setup* setup = nullptr);

  // Adds what conduits, neighbours and devices have counted, of all ranks; not while the engine runs.
  void add_to(conduit::Counts& counts) const;
  // What their conduits hold of the modelled machine's memory, all together; likewise. Throws UsageError where one does
  // not say it.
  [[nodiscard]] Bytes reserved_bytes() const;

  // The objects that a rank's conduit holds of its network. Throws UsageError where it does not tell.
  [[nodiscard]] std::vector<conduit::Holding> holdings(Rank rank) const;

  // Bytes that a rank's segment may have.
  [[nodiscard]] Bytes largest_segment() const;

  [[nodiscard]] sim::Engine& engine() { return engine_; }
  [[nodiscard]] ComposedNetwork& network() { return *network_; }
  [[nodiscard]] Endpoint& endpoint(Rank rank) { return *endpoints_[index(rank)]; }

 private:
  // Zeroed memory that costs nothing until it is touched.
  class Block {
   public:
    explicit Block(Bytes bytes);
    [[nodiscard]] std::byte* data() const { return memory_.get(); }

   private:
    struct Free {
      Bytes bytes;
      void operator()(std::byte* memory) const;
    };
    std::unique_ptr<std::byte, Free> memory_;
  };

  [[nodiscard]] sim::EngineOptions engine_options() const;
  void count(conduit::Conduit& made);

  const Request& request_;
  std::unique_ptr<networks::ModelledMachine> machine_;
  sim::Engine engine_;
  std::unique_ptr<ComposedNetwork> network_;
  std::vector<Block> blocks_;
  std::vector<core::Segment> segments_;
  std::vector<std::unique_ptr<conduit::Conduit>> conduits_;
  std::vector<const conduit::CountsItself*> counting_;     // of them
  std::vector<const conduit::ReservesMemory*> reserving_;  // ... those of the network; null: does not say
  std::vector<const conduit::TellsHoldings*> telling_;     // likewise
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
};

}  // namespace gasmeter::run

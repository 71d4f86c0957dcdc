// The ranks of a job in virtual time: an engine and a network; per rank memory, conduit and endpoint.
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
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::run {

class Setup;

class ModelRanks {
 public:
  using Endpoint = core::Endpoint<sim::ModelHost>;

  // Makes engine and network only. Throws UsageError for options that the machine cannot have. The request outlives it.
  explicit ModelRanks(const Request& request);
  ModelRanks(const ModelRanks&) = delete;
  ModelRanks& operator=(const ModelRanks&) = delete;
  ~ModelRanks();  // cancels

  // Make an endpoint for every rank, with a segment of that size. `wrap`: makes the layer between a conduit and its
  // endpoint; may be null.
  using Wrap = std::function<std::unique_ptr<conduit::Conduit>(Rank, conduit::Conduit&)>;
  // `setup` is told of each rank, unless it is null.
  void make_endpoints(Bytes segment_bytes, const Wrap& wrap = nullptr, Setup* setup = nullptr);

  // Add the counts of conduits, neighbours and devices of all ranks. Must not be called while the engine runs.
  void add_to(conduit::Counts& counts) const;
  // Return the bytes that all conduits together hold of the modelled machine's memory. Must not be called while the
  // engine runs. Throws UsageError where a conduit does not tell.
  [[nodiscard]] Bytes reserved_bytes() const;

  // Return the objects that a rank's conduit holds of its network. Throws UsageError where the conduit does not tell.
  [[nodiscard]] std::vector<conduit::Holding> holdings(Rank rank) const;

  // Return the largest segment that a rank may have, in bytes.
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
  std::vector<const conduit::CountsItself*> counting_;     // conduits as counters
  std::vector<const conduit::ReservesMemory*> reserving_;  // null: does not tell its memory
  std::vector<const conduit::TellsHoldings*> telling_;     // null: does not tell its holdings
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
};

}  // namespace gasmeter::run

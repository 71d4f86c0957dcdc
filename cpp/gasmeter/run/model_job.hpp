// A measurement in virtual time: every rank a fibre of one engine, inside the calling process.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/resolved.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/conduit/holdings.hpp"
#include "gasmeter/conduit/recording.hpp"
#include "gasmeter/run/request.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/stop_token.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/trace/tracer.hpp"

namespace gasmeter::run {

// A job is deterministic: the same request gives the same bytes and the same picoseconds. One thread at a time may use
// it; several jobs may live in a process. A call that throws leaves the job unusable.
class ModelJob {
 public:
  // `stop`: token by which others may end the set-up; null: none. Throws UsageError for a request that this build
  // cannot run, ResourceError for ranks that need more memory than there is, sim::Interrupted where it was stopped.
  explicit ModelJob(const Request& request, const sim::StopToken* stop = nullptr);
  ModelJob(const ModelJob&) = delete;
  ModelJob& operator=(const ModelJob&) = delete;
  ~ModelJob();

  // Run a timed block; return rank 0's result.
  bench::BlockResult run(std::uint64_t iterations);
  // Verify; return the sum over the ranks. `blocks_follow`: it must not change the times of later blocks
  // (Program::let_blocks_follow()).
  bench::Verification verify(bool blocks_follow = false);
  // Return the use of every link during the last block, from the instant at which all ranks began it; empty: no links.
  [[nodiscard]] std::vector<sim::LinkUse> link_use();
  // Return the time until every rank had ended the last block.
  [[nodiscard]] SimTime block_length() const;
  // Return what each rank did in the last block, sends and receives matched. Throws UsageError where nothing is
  // recorded or no block has run.
  [[nodiscard]] std::span<const conduit::RankRecord> record();
  // An operation that rank 0 has marked in the last block, and the steps on which its time was spent.
  struct TracedOperation {
    SimTime begin;  // since the block began
    SimTime end;
    std::vector<sim::Stretch> way;
  };
  [[nodiscard]] std::vector<TracedOperation> trace() const;
  [[nodiscard]] NodeId node_of(Rank rank) const;
  // Return the counts of conduits and devices since the job was made, over all ranks.
  [[nodiscard]] conduit::Counts counts() const;
  // Return the objects that a rank's conduit holds of its network: between blocks, or within a block of `iterations`
  // operations, `after` its begin. Throws UsageError where the conduit does not tell, and for an instant that the block
  // does not reach.
  [[nodiscard]] std::vector<conduit::Holding> holdings(Rank rank) const;
  [[nodiscard]] std::vector<conduit::Holding> holdings_during(Rank rank, std::uint64_t iterations, SimTime after);
  // Return the cost of the simulation since the job was made, over all ranks.
  [[nodiscard]] sim::EngineCounters engine_counters() const;
  // Return keys of the machine that nothing has depended on since the job was made; see ComposedNetwork.
  [[nodiscard]] std::vector<std::string> unused_keys() const;
  // Return the choices that rank 0 made for options that leave a choice, by option.
  [[nodiscard]] bench::Resolved resolved() const;
  // Stop the job from another thread or a signal handler: the running call throws sim::Interrupted.
  void stop() noexcept;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace gasmeter::run

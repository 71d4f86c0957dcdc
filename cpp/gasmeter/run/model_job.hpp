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
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/fabric.hpp"
#include "gasmeter/sim/stop_token.hpp"
#include "gasmeter/sim/tracer.hpp"

namespace gasmeter::run {

// Deterministic: the same request gives the same bytes and the same picoseconds. One thread at a time; several jobs may
// live in a process. A call that throws leaves the job unusable.
class ModelJob {
 public:
  // `stop`: whoever waits may end what is set up; null: nobody. Throws UsageError for a request this build cannot run,
  // ResourceError for ranks that take more memory than there is, sim::Interrupted where it was stopped.
  explicit ModelJob(const Request& request, const sim::StopToken* stop = nullptr);
  ModelJob(const ModelJob&) = delete;
  ModelJob& operator=(const ModelJob&) = delete;
  ~ModelJob();

  // A timed block as rank 0 saw it.
  bench::BlockResult run(std::uint64_t iterations);
  // Summed over the ranks. `blocks_follow`: it must not change what later blocks take (Program::let_blocks_follow()).
  bench::Verification verify(bool blocks_follow = false);
  // What every link has carried during the last block, from the instant all ranks began it; empty: no links.
  [[nodiscard]] std::vector<sim::LinkUse> link_use();
  // Until the instant every rank had ended it.
  [[nodiscard]] SimTime block_length() const;
  // What each rank did in the last block, sends and receives matched. Throws UsageError where nothing was to be
  // recorded or no block has run.
  [[nodiscard]] std::span<const conduit::RankRecord> record();
  // The operations that rank 0 has marked in the last block, and what each one's time was spent on. Throws UsageError
  // where nothing was to be traced or no block has run.
  struct TracedOperation {
    SimTime begin;  // since the block began
    SimTime end;
    std::vector<sim::Stretch> way;
  };
  [[nodiscard]] std::vector<TracedOperation> trace() const;
  [[nodiscard]] NodeId node_of(Rank rank) const;
  // What conduits and devices have counted since the job was made, of all ranks.
  [[nodiscard]] conduit::Counts counts() const;
  // The objects that a rank's conduit holds of its network: between blocks, or in the midst of a block of so many
  // operations, `after` its begin. Throws UsageError where the conduit does not tell, and for an instant that the block
  // does not reach.
  [[nodiscard]] std::vector<conduit::Holding> holdings(Rank rank) const;
  [[nodiscard]] std::vector<conduit::Holding> holdings_during(Rank rank, std::uint64_t iterations, SimTime after);
  // What it has cost to simulate that, likewise.
  [[nodiscard]] sim::EngineCounters engine_counters() const;
  // Keys of the machine that nothing has depended on since the job was made; see ComposedNetwork.
  [[nodiscard]] std::vector<std::string> unused_keys() const;
  // What options that leave a choice became on rank 0, by their names.
  [[nodiscard]] bench::Resolved resolved() const;
  // May be called from another thread or a signal handler: the running call throws sim::Interrupted.
  void stop() noexcept;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace gasmeter::run

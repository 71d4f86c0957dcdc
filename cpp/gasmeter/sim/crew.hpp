// Runs an engine's partitions window by window: on the calling thread, or on one thread each while there is enough to
// do.
#pragma once

#include <deque>

#include "gasmeter/sim/partition.hpp"
#include "gasmeter/sim/stop_token.hpp"

namespace gasmeter::sim {

class Crew {
 public:
  explicit Crew(std::deque<Partition>& partitions) : partitions_(partitions) {}

  // Runs the next window, or many of them on all threads; the last that was run, or WindowQueue::kNone if nothing is
  // left. Returns early when no body is live, one has failed, or `stop` asks for it.
  [[nodiscard]] WindowQueue::Window run_next(const StopToken& stop);

 private:
  class Parallel;
  [[nodiscard]] WindowQueue::Window run_here();
  [[nodiscard]] std::uint64_t work_done() const;

  std::deque<Partition>& partitions_;
  std::uint64_t work_before_ = 0;
  unsigned windows_ = 0;  // since work_before_ was taken
  bool busy_ = false;
};

}  // namespace gasmeter::sim

// Runs an engine's partitions window by window: on the calling thread, or on one thread each while there is enough to
// do.
#pragma once

#include <cstdint>
#include <deque>

#include "gasmeter/sim/partition.hpp"
#include "gasmeter/sim/stop_token.hpp"

namespace gasmeter::sim {

class Crew {
 public:
  explicit Crew(std::deque<Partition>& partitions) : partitions_(partitions) {}

  struct Outcome {
    WindowQueue::Window last = -1;  // that was run
    bool more = true;               // false: nothing is left to happen
  };
  // Until no body is live, one has failed, nothing is left, or `stop` asks for it.
  Outcome run(const StopToken& stop);

 private:
  class Parallel;
  Outcome run_only(const StopToken& stop);
  [[nodiscard]] WindowQueue::Window next_window() const;
  void run_window(WindowQueue::Window window);
  [[nodiscard]] bool goes_on() const;
  [[nodiscard]] std::uint64_t work_done() const;

  std::deque<Partition>& partitions_;
};

}  // namespace gasmeter::sim

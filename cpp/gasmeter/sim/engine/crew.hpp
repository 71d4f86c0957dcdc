// Runs an engine's partitions window by window: on the calling thread, or on one thread each while there is enough to
// do.
#pragma once

#include <cstdint>
#include <deque>

#include "gasmeter/sim/engine/partition.hpp"
#include "gasmeter/sim/engine/stop_token.hpp"

namespace gasmeter::sim {

class Crew {
 public:
  Crew(std::deque<Partition>& partitions, FibreMaker fibres) : partitions_(partitions), fibres_(fibres) {}

  // Run until no body is live, a body has failed, nothing is left, or `stop` asks for it.
  void run(const StopToken& stop);

 private:
  class Parallel;
  // State of one partition, or of all partitions.
  struct State {
    WindowQueue::Window next = WindowQueue::kNone;
    unsigned live = 0;
    bool failed = false;
    bool holds_back = false;
    SimTime block_end;

    static State of(Partition& partition);
    void add(const State& other);
    // Return up to where nodes go on that were held back in the last window (Partition::run_window): to the end of the
    // block if no body is live, else to the end of the window.
    [[nodiscard]] SimTime held_until(SimTime window_end) const { return live == 0 ? block_end : window_end; }
  };

  [[nodiscard]] State state();
  [[nodiscard]] bool goes_on(const State& state) const;
  void run_only(const StopToken& stop);
  void run_window(WindowQueue::Window window);
  [[nodiscard]] std::uint64_t work_done() const;

  std::deque<Partition>& partitions_;
  FibreMaker fibres_;              // makes the fibres of all ranks
  WindowQueue::Window last_ = -1;  // the last that was run
};

}  // namespace gasmeter::sim

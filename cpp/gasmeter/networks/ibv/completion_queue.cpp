#include "gasmeter/networks/ibv/completion_queue.hpp"

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::ibv {

void CompletionQueue::write(const WorkCompletion& completion, SimTime at) {
  if (written_.size() == capacity_) {
    throw UsageError("ibv: rank " + std::to_string(index(owner_)) + " leaves " + std::to_string(capacity_) +
                     " completions in a queue that holds no more");
  }
  written_.write(completion, at);
}

}  // namespace gasmeter::networks::ibv

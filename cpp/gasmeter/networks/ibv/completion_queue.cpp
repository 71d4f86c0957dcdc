#include "gasmeter/networks/ibv/completion_queue.hpp"

#include <algorithm>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::ibv {

void CompletionQueue::write(const WorkCompletion& completion, SimTime at) {
  if (entries_.size() - first_ == capacity_) {
    throw UsageError("ibv: rank " + std::to_string(index(owner_)) + " leaves " + std::to_string(capacity_) +
                     " completions in a queue that holds no more");
  }
  const bool waits = seen_ != entries_.size();
  entries_.push_back({completion, waits ? std::max(at, entries_.back().at) : at});
  deepest_ = std::max(deepest_, entries_.size() - first_);
  if (!waits) engine_.post(node_, node_, at, *this);
}

void CompletionQueue::on_due(sim::Action& self, SimTime now) {
  auto& queue = static_cast<CompletionQueue&>(self);
  while (queue.seen_ != queue.entries_.size() && queue.entries_[queue.seen_].at <= now) ++queue.seen_;
  if (queue.seen_ != queue.entries_.size()) {
    queue.engine_.post(queue.node_, queue.node_, queue.entries_[queue.seen_].at, queue);
  }
  queue.engine_.wake(queue.owner_, now);
}

WorkCompletion CompletionQueue::take() {
  const WorkCompletion completion = entries_[first_].completion;
  if (++first_ == entries_.size()) {
    entries_.clear();
    first_ = seen_ = 0;
  } else if (first_ >= 1024 && first_ * 2 >= entries_.size()) {
    // One that is never quite empty must not grow for ever.
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
    seen_ -= first_;
    first_ = 0;
  }
  return completion;
}

}  // namespace gasmeter::networks::ibv

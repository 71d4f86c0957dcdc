// Matches the collective requests of ranks: the n-th request of every rank belongs to the n-th collective.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/launch/frame.hpp"

namespace gasmeter::launch {

struct CollectiveRequest {
  FrameKind kind = FrameKind::exchange;
  std::string payload;
};

class Collectives {
 public:
  explicit Collectives(std::size_t ranks) : waiting_(ranks) {}

  void add(std::size_t rank, CollectiveRequest request) {
    if (waiting_[rank].empty()) ++arrived_;
    waiting_[rank].push_back(std::move(request));
  }

  // Tell whether every rank has asked.
  [[nodiscard]] bool complete() const { return arrived_ == waiting_.size(); }

  // Take the oldest request of each rank, in rank order; only when complete().
  [[nodiscard]] std::vector<CollectiveRequest> take() {
    std::vector<CollectiveRequest> requests;
    requests.reserve(waiting_.size());
    for (auto& queue : waiting_) {
      requests.push_back(std::move(queue.front()));
      queue.pop_front();
      if (queue.empty()) --arrived_;
    }
    return requests;
  }

 private:
  std::vector<std::deque<CollectiveRequest>> waiting_;
  std::size_t arrived_ = 0;
};

}  // namespace gasmeter::launch

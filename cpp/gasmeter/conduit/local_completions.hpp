// Operations that were locally complete at commit, since the conduit had copied the payload. Core is told at the next
// poll.
#pragma once

#include <cstddef>
#include <vector>

#include "gasmeter/conduit/conduit.hpp"

namespace gasmeter::conduit {

class LocalCompletions {
 public:
  void add(OperationId operation) {
    if (operation != kNoOperation) done_.push_back(operation);
  }

  [[nodiscard]] bool empty() const { return done_.empty(); }

  // Report at most `budget` operations; return their number. The sink may add more meanwhile.
  unsigned report(Delivery& sink, unsigned budget) {
    unsigned reported = 0;
    while (reported < budget && first_ != done_.size()) {
      const OperationId operation = done_[first_++];
      if (first_ == done_.size()) {
        done_.clear();
        first_ = 0;
      }
      sink.completed(operation);
      ++reported;
    }
    return reported;
  }

 private:
  std::vector<OperationId> done_;  // entries before first_ have been reported
  std::size_t first_ = 0;
};

}  // namespace gasmeter::conduit

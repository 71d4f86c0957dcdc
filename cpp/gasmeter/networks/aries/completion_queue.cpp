#include "gasmeter/networks/aries/completion_queue.hpp"

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::aries {

void CompletionQueue::overrun(const CqEvent& event) const {
  throw BrokenJob("aries: rank " + std::to_string(index(owner_)) + "'s completion queue " + std::to_string(number_) +
                  " of " + std::to_string(entries_) + " entries is overrun by " + name_of(event.type) + " of rank " +
                  std::to_string(index(event.peer)));
}

}  // namespace gasmeter::networks::aries

#include "gasmeter/services/two_sided_service.hpp"

#include <limits>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::services {

void check_length(Bytes bytes) {
  constexpr Bytes kMost = std::numeric_limits<std::uint32_t>::max();
  if (bytes <= kMost) return;
  throw UsageError("two-sided message of " + std::to_string(bytes) + " bytes; at most " + std::to_string(kMost));
}

void check_room(Bytes bytes, Rank source, Tag tag, Bytes room) {
  if (bytes <= room) return;
  throw UsageError("two-sided message of " + std::to_string(bytes) + " bytes from rank " +
                   std::to_string(index(source)) + " with tag " + std::to_string(static_cast<std::uint32_t>(tag)) +
                   " for a receive of at most " + std::to_string(room));
}

}  // namespace gasmeter::services

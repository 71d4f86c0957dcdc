#include "gasmeter/pgas/options.hpp"

#include "gasmeter/base/error.hpp"

namespace gasmeter::pgas {

void check(const SpaceOptions& options) {
  if (options.capacity == 0) throw UsageError("shared space: capacity=0 entries; 1 or more, or unlimited");
  if (options.chunk == 0) throw UsageError("shared space: chunk=0 bytes; 1 or more");
}

}  // namespace gasmeter::pgas

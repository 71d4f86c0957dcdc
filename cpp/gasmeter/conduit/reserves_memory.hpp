// Memory of the modelled machine that a conduit reserves for itself.
#pragma once

#include "gasmeter/base/units.hpp"

namespace gasmeter::conduit {

// Interface of conduits of modelled networks and of their parts. Real conduits lack it, since the system reports the
// memory that is in use.
class ReservesMemory {
 public:
  // Return the bytes held for the rank now, as each object counts them: buffers, queues of devices, boxes, and
  // messages that wait in host memory. The program's own memory and this program's bookkeeping do not count. Not
  // allowed while the engine runs.
  [[nodiscard]] virtual Bytes reserved_bytes() const = 0;

 protected:
  ~ReservesMemory() = default;
};

}  // namespace gasmeter::conduit

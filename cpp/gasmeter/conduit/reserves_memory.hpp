// Memory of the modelled machine that a conduit keeps for itself.
#pragma once

#include "gasmeter/base/units.hpp"

namespace gasmeter::conduit {

// A conduit of a modelled network is this, too; so is what it consists of. On a real host nobody asks: what this
// computer's memory holds, the system says.
class ReservesMemory {
 public:
  // Bytes that it holds for its rank now, each object by its own count: buffers, queues of devices, boxes, and what
  // waits in host memory. Not the program's own memory, nor what only this program needs to keep track. Not while the
  // engine runs.
  [[nodiscard]] virtual Bytes reserved_bytes() const = 0;

 protected:
  ~ReservesMemory() = default;
};

}  // namespace gasmeter::conduit

// What a user of the conduit may choose.
#pragma once

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::lapi {

// The defaults are those of protocol_constants.csv, rows lapi-conduit, where they say so.
struct LapiOptions {
  bool rdma = true;                        // puts and gets go from memory to memory, by the adapters alone
  Bytes rdma_from = 0;                     // of so many bytes on; others in packet mode
  Bytes pin_threshold = 4096;              // memory that is not registered is copied up to here, and registered above
  Bytes most_payload = Bytes{256} << 10U;  // of a message; less where the windows do not hold it
};

}  // namespace gasmeter::networks::lapi

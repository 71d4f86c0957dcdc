// Options of the conduit.
#pragma once

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::lapi {

// The defaults are those of GASNet's released lapi-conduit, as far as its sources state them.
struct LapiOptions {
  bool rdma = true;            // the adapters do puts and gets, from memory to memory
  Bytes rdma_from = 0;         // smallest transfer in RDMA mode; smaller ones use packet mode
  Bytes pin_threshold = 4096;  // memory that is not registered is copied up to this size, and registered above it
  Bytes most_payload = Bytes{256} << 10U;  // of a message; less if the windows do not hold it
};

}  // namespace gasmeter::networks::lapi

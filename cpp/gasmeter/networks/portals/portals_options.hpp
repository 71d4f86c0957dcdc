// Options of the conduit over Portals. The defaults are those of GASNet's released
// portals-conduit.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::portals {

enum class Registration : std::uint8_t {
  temporary,  // a memory descriptor for each transfer (TMPMD)
  firehose,   // descriptors that stay
};

struct PortalsOptions {
  Registration registration = Registration::firehose;
  Bytes bounce_limit = 0;  // transfers from or to outside memory of up to so many bytes use a buffer
  bool dynamic = true;     // credits are lent to ranks that lack them
  std::uint32_t credits_per_peer = 8;
  std::uint32_t request_buffers = 2;
  Bytes request_memory = 0;  // of all request buffers together; 0: the credits' need and a reserve
  std::uint32_t send_tokens = 250;
};

}  // namespace gasmeter::networks::portals

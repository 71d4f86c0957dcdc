// How the conduit over Portals is set up. The defaults are the released conduit's, by protocol_constants.csv, rows
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
  Bytes bounce_limit = 0;  // transfers of outside memory of no more bytes go by a buffer
  bool dynamic = true;     // credits are lent to those that miss them
  std::uint32_t credits_per_peer = 8;
  std::uint32_t request_buffers = 2;
  Bytes request_memory = 0;  // of all request buffers together; 0: as much as the credits need, and a reserve
  std::uint32_t send_tokens = 250;
};

}  // namespace gasmeter::networks::portals

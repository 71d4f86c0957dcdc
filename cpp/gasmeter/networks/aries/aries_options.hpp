// How the conduit uses its cards. The defaults are those of GASNet's released aries-conduit.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::aries {

struct AriesOptions {
  Bytes medium = 4032;        // largest payload of a Medium with 16 arguments
  Bytes request_area = 0;     // for the requests of each peer; 0: room for three of the largest messages
  unsigned reply_slots = 64;  // requests in flight to all peers together
  unsigned descriptors = 512;
  unsigned bounce_buffers = 64;
  Bytes fma_cutover = 4096;       // puts and gets of up to so many bytes use a window
  unsigned registrations = 3072;  // of memory outside the segment, at a time
};

}  // namespace gasmeter::networks::aries

// How the conduit uses its cards.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/sci/am_wire.hpp"

namespace gasmeter::networks::sci {

struct SciOptions {
  enum class Check : std::uint8_t {
    message,      // once, behind its data and before its flags
    transaction,  // whatever has been stored, each for itself
  };
  Queues queues = Queues::paired;
  unsigned pairs = 2;            // of slots for each peer: requests under way to it; of split queues, all of a peer's
  bool one_transaction = false;  // header and payload are made one before they are stored
  Check check = Check::message;
  Bytes long_pio = 2048;        // Longs of fewer bytes are stored
  bool staged = true;           // what DMA sends has been copied into an exported segment
  unsigned small_buffers = 16;  // in which payloads of Mediums and of stored Longs are made
  unsigned transfers = 2;       // by DMA, under way or prepared
};

}  // namespace gasmeter::networks::sci

// How the conduit uses its cards.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/sci/am_wire.hpp"

namespace gasmeter::networks::sci {

struct SciOptions {
  enum class Check : std::uint8_t {
    message,      // once, behind the data of a message and before its flags
    transaction,  // after every store
  };
  Queues queues = Queues::paired;
  unsigned pairs = 2;            // slots for requests to each peer; with split queues, all slots of a peer
  bool one_transaction = false;  // one store carries header and payload
  Check check = Check::message;
  Bytes long_pio = 2048;        // Longs of fewer bytes are stored
  bool staged = true;           // DMA reads from a copy in an exported segment
  unsigned small_buffers = 16;  // for payloads of Mediums and of stored Longs
  unsigned transfers = 2;       // DMA transfers that are in flight or prepared
};

}  // namespace gasmeter::networks::sci

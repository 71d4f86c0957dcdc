// Switches that choose how a conduit implements active messages. README.md says why there are four of them.
#pragma once

#include <cstdint>

namespace gasmeter::networks::extoll {

struct AmOptions {
  enum class Lock : std::uint8_t { none, message, packet };

  bool packed = true;          // arguments and payload share packets with the section before them
  bool in_place = true;        // software uses a one-packet message in its slot, without a copy
  Lock lock = Lock::message;   // actions that take the AM lock
  bool send_poll = false;      // software looks at the mailbox before each packet that it sends
  unsigned outstanding = 0;    // requests to a peer on another node that may be unhandled; 0: any number
  bool rma_puts = false;       // puts are commands of the RMA unit, not messages
  bool node_by_memory = true;  // ranks of a node exchange messages through the node's memory, not the card

  [[nodiscard]] static constexpr AmOptions early() {
    return {.packed = false, .in_place = false, .lock = Lock::packet, .send_poll = true};
  }
  [[nodiscard]] static constexpr AmOptions improved() { return {}; }
};

}  // namespace gasmeter::networks::extoll

// How a conduit's active messages are implemented: README.md says why there are these four switches.
#pragma once

#include <cstdint>

namespace gasmeter::networks::extoll {

struct AmOptions {
  enum class Lock : std::uint8_t { none, message, packet };

  bool packed = true;          // arguments and payload share packets with what comes before them
  bool in_place = true;        // a message of one packet is used in its slot
  Lock lock = Lock::message;   // what the AM lock is taken for
  bool send_poll = false;      // the mailbox is looked at before each packet that is sent
  unsigned outstanding = 0;    // requests under way to a peer on another node until it has handled some; 0: any number
  bool rma_puts = false;       // puts are commands of the RMA unit, not messages
  bool node_by_memory = true;  // ranks of a node exchange messages through its memory, not through the card

  [[nodiscard]] static constexpr AmOptions early() {
    return {.packed = false, .in_place = false, .lock = Lock::packet, .send_poll = true};
  }
  [[nodiscard]] static constexpr AmOptions improved() { return {}; }
};

}  // namespace gasmeter::networks::extoll

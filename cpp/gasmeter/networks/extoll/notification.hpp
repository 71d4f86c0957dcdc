// The words a unit leaves in host memory when it is done with something.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/extoll/host_link.hpp"

namespace gasmeter::networks::extoll {

struct Notification {
  enum class Kind : std::uint8_t {
    requester,  // a put's data may change; a get's request has left
    completer,  // data is here: of a put at its target, of a get at its origin
    responder,  // a get has been served
    dropped,    // a VELO packet met a full mailbox
  };
  Kind kind{};
  std::uint8_t tag = 0;          // dropped: the packet's
  Rank peer{};                   // the rank at the other side
  Bytes size = 0;                // of the transfer
  std::byte* address = nullptr;  // the transfer's memory at this side
  bool operator==(const Notification&) const = default;
};

class ExtollNic;

// Writes the notifications of a node's units over the link to its memory.
class NotificationWriter {
 public:
  explicit NotificationWriter(ExtollNic& nic);

  void write(Rank to, const Notification& notification, SimTime now);

 private:
  struct Written {
    Rank to;
    Notification notification;
  };
  void tell(const Written& written, SimTime now);

  ExtollNic& nic_;
  WordPassage<Written, NotificationWriter, &NotificationWriter::tell> passage_;
};

}  // namespace gasmeter::networks::extoll

// Notifications: words that a unit writes into host memory when it has finished a step.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/extoll/host_link.hpp"

namespace gasmeter::networks::extoll {

struct Notification {
  enum class Kind : std::uint8_t {
    requester,  // the source of a put may change; the request of a get has left
    completer,  // data have arrived: those of a put at its target, those of a get at its origin
    responder,  // a get has been served
    dropped,    // a VELO packet found a full mailbox
  };
  Kind kind{};
  std::uint8_t tag = 0;          // of the dropped packet
  Rank peer{};                   // the rank at the other side
  Bytes size = 0;                // of the transfer
  std::byte* address = nullptr;  // the transfer's memory at this side
  bool operator==(const Notification&) const = default;
};

class ExtollNic;

// Writer of a node's notifications, over the link to the node's memory.
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

// The words a unit leaves in host memory when it is done with something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"

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

// Writes the notifications of a node's units, each a fixed time after it is due.
class NotificationWriter : private sim::Action {
 public:
  explicit NotificationWriter(ExtollNic& nic) : sim::Action(&NotificationWriter::on_written), nic_(nic) {}

  void write(Rank to, const Notification& notification, SimTime now);

 private:
  struct Pending {
    SimTime at;
    Rank to;
    Notification notification;
  };
  static void on_written(sim::Action& self, SimTime now);

  ExtollNic& nic_;
  std::vector<Pending> pending_;  // from first_ on
  std::size_t first_ = 0;
};

}  // namespace gasmeter::networks::extoll

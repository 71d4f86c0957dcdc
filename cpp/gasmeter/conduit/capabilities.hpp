// Limits and native operations that a conduit declares. Other code reads these data and never asks for a conduit's
// name.
#pragma once

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/pages.hpp"

namespace gasmeter::conduit {

inline constexpr unsigned kMaxArguments = 16;  // GASNet-EX: at least 16 on LP64 [EX:AM categories]

struct Capabilities {
  Bytes max_request_medium = 0;  // largest payload with 16 arguments, for every peer
  Bytes max_reply_medium = 0;
  Bytes max_request_long = 0;
  Bytes max_reply_long = 0;
  bool native_put = false;  // put() never returns Status::unsupported
  bool native_get = false;
  bool native_pin = false;             // pin() never returns Status::unsupported
  PinLimits pins{};                    // limits of pinned memory at a time
  bool handlers_by_interrupt = false;  // an arriving message is handled at once, even while its rank computes
  Bytes max_transfer = 0;              // largest native put or get
  Bytes copied_puts = 0;  // a native put of at most so many bytes can leave its source free at return (kAtReturn)
  // Several Mediums of at most so many bytes are cheaper than one larger Medium. 0: no such size.
  Bytes packet_medium = 0;
  bool polls_at_injection = false;  // requests poll once before they leave, as Endpoint::poll_at_injection() sets it
  Bytes medium_puts = 0;            // a put of at most so many bytes is cheaper as Mediums than as Longs
  // Largest client's payload, in bytes, that commit() reads before it returns. Such a fixed payload is sent from the
  // client's memory without a copy. 0: the payload is first written into a buffer of the conduit.
  Bytes medium_at_commit = 0;
  Bytes long_at_commit = 0;
  // A Long above this number of bytes is sent in place from the client's memory. The conduit reports when that memory
  // may change, and the sender waits for it. No copy is made. 0: no Long is sent so.
  Bytes long_in_place = 0;
  // Additional bytes of a Medium for every two arguments below 16.
  Bytes medium_for_two_arguments = 0;

  // Return the largest payload of a Medium with `arguments` arguments.
  [[nodiscard]] constexpr Bytes most_medium(bool is_reply, unsigned arguments) const {
    const Bytes least = is_reply ? max_reply_medium : max_request_medium;
    return arguments >= kMaxArguments ? least : least + (kMaxArguments - arguments) / 2 * medium_for_two_arguments;
  }
};

}  // namespace gasmeter::conduit

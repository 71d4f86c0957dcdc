// Capabilities are data: a conduit declares limits and native operations; nobody asks a conduit its name.
#pragma once

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/pages.hpp"

namespace gasmeter::conduit {

inline constexpr unsigned kMaxArguments = 16;  // GASNet-EX: at least 16 on LP64 [EX:AM categories]

struct Capabilities {
  Bytes max_request_medium = 0;  // payload bytes with 16 arguments: the least upper bound over peers and arguments
  Bytes max_reply_medium = 0;
  Bytes max_request_long = 0;
  Bytes max_reply_long = 0;
  bool native_put = false;  // put() does not answer Status::unsupported
  bool native_get = false;
  bool native_pin = false;             // pin() does not answer Status::unsupported
  PinLimits pins{};                    // what it can hold at a time
  bool handlers_by_interrupt = false;  // what comes is handled at once, also while its rank computes
  Bytes max_transfer = 0;              // largest native put or get
  Bytes copied_puts = 0;    // native puts of at most so many bytes leave their source free at return, if asked to
  Bytes packet_medium = 0;  // a Medium of at most so many bytes is cheaper than its part of a larger one; 0: none is
  bool polls_at_injection = false;  // requests poll once before they leave, as Endpoint::poll_at_injection() has it
  Bytes medium_puts = 0;            // a put of at most so many bytes is cheaper as Mediums than as Longs
  // commit() has read a client's payload of at most so many bytes when it returns: a fixed payload goes from where it
  // lies, and nobody copies it before. 0: a buffer of the conduit is written first.
  Bytes medium_at_commit = 0;
  Bytes long_at_commit = 0;
  // A Long of more bytes goes from where a client's payload lies, and tells when that may change: nobody copies a fixed
  // payload, and whoever sends it waits until it has left. 0: none does.
  Bytes long_in_place = 0;
  // A Medium may have so many bytes more for each two arguments that it has less than 16.
  Bytes medium_for_two_arguments = 0;

  // The largest payload of a Medium with so many.
  [[nodiscard]] constexpr Bytes most_medium(bool is_reply, unsigned arguments) const {
    const Bytes least = is_reply ? max_reply_medium : max_request_medium;
    return arguments >= kMaxArguments ? least : least + (kMaxArguments - arguments) / 2 * medium_for_two_arguments;
  }
};

}  // namespace gasmeter::conduit

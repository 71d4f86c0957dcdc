// Limit of a peer's requests that may wait for their handlers.
//
// A rank acknowledges requests that it cannot hand over yet, and keeps them. This happens inside a handler that waits
// for room for its reply, and between measurements. Each header counts the destination's requests that have been handed
// over. A sender that is kMostKept ahead sends no further request: the receiver would refuse it. Replies, puts, gets
// and acknowledgements are never held back, so two ranks that keep requests of each other go on.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/networks/udp/wire.hpp"

namespace gasmeter::networks::udp {

inline constexpr Bytes kMostKept = 8 * 1024 * 1024;  // per peer
inline constexpr Bytes kKeptMessage = 160;           // memory of a kept message without its payload

// Return the credit that a request takes. The payload of a Long lies in the segment and takes none.
constexpr std::uint32_t kept_bytes(conduit::Category category, Bytes size) {
  return static_cast<std::uint32_t>(kKeptMessage + (category == conduit::Category::medium ? size : 0));
}

// Return the credit that a transfer takes; 0 if it is no request.
constexpr std::uint32_t kept_bytes(const Fragment& head) {
  if (head.kind == FragmentKind::request_medium) return kept_bytes(conduit::Category::medium, head.total);
  return head.kind == FragmentKind::request_long ? kept_bytes(conduit::Category::long_message, head.total) : 0;
}

// Credit of one rank for requests to a peer. Counts wrap around. They never differ by more than kMostKept.
class RequestCredit {
 public:
  [[nodiscard]] bool has_room(std::uint32_t bytes) const { return asked_ - handled_ + bytes <= kMostKept; }
  void take(std::uint32_t bytes) { asked_ += bytes; }
  void give_back(std::uint32_t bytes) { asked_ -= bytes; }
  // Take the count from a peer's header. Counts of older headers are ignored.
  void handled(std::uint32_t count) {
    if (count - handled_ <= asked_ - handled_) handled_ = count;
  }

 private:
  std::uint32_t asked_ = 0;
  std::uint32_t handled_ = 0;
};

// Requests of a peer that one rank keeps.
class KeptRequests {
 public:
  void keep(std::uint32_t bytes) {
    kept_ += bytes;
    if (kept_ > kMostKept / 2) was_full_ = true;
  }
  void release(std::uint32_t bytes) { kept_ -= bytes; }
  void handle(std::uint32_t bytes) { handled_ += bytes; }

  [[nodiscard]] bool is_beyond() const { return kept_ > kMostKept; }
  [[nodiscard]] std::uint32_t handled() const { return handled_; }
  // Return true once when there is plenty of room again after little: the peer may have stopped sending.
  [[nodiscard]] bool has_room_again() {
    if (!was_full_ || kept_ > kMostKept / 4) return false;
    was_full_ = false;
    return true;
  }

 private:
  Bytes kept_ = 0;
  std::uint32_t handled_ = 0;
  bool was_full_ = false;
};

}  // namespace gasmeter::networks::udp

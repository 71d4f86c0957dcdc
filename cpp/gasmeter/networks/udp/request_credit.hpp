// How much of a peer's requests may wait for their handlers.
//
// A rank acknowledges requests that it cannot hand over yet (inside a handler that waits for room for its reply, or
// between measurements) and keeps them. Each header says how much of its destination's requests has been handed over;
// who sends more than kMostKept beyond that would be refused, and does not. Replies, puts, gets and acknowledgements
// are never held back, so that two ranks that keep requests of one another go on.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/networks/udp/wire.hpp"

namespace gasmeter::networks::udp {

inline constexpr Bytes kMostKept = 8 * 1024 * 1024;  // per peer
inline constexpr Bytes kKeptMessage = 160;           // what a kept message takes beside its payload

// What a request counts; the payload of a Long lies in the segment.
constexpr std::uint32_t kept_bytes(conduit::Category category, Bytes size) {
  return static_cast<std::uint32_t>(kKeptMessage + (category == conduit::Category::medium ? size : 0));
}

// Of a transfer; 0 if it is no request.
constexpr std::uint32_t kept_bytes(const Fragment& head) {
  if (head.kind == FragmentKind::request_medium) return kept_bytes(conduit::Category::medium, head.total);
  return head.kind == FragmentKind::request_long ? kept_bytes(conduit::Category::long_message, head.total) : 0;
}

// What one rank may still ask of a peer. Counts wrap around; they never differ by more than kMostKept.
class RequestCredit {
 public:
  [[nodiscard]] bool has_room(std::uint32_t bytes) const { return asked_ - handled_ + bytes <= kMostKept; }
  void take(std::uint32_t bytes) { asked_ += bytes; }
  void give_back(std::uint32_t bytes) { asked_ -= bytes; }
  // As the peer's header says; an older header than the last one says nothing.
  void handled(std::uint32_t count) {
    if (count - handled_ <= asked_ - handled_) handled_ = count;
  }

 private:
  std::uint32_t asked_ = 0;
  std::uint32_t handled_ = 0;
};

// What one rank keeps of a peer's requests.
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
  // True once after there was little room and there is plenty again: the peer may have stopped for it.
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

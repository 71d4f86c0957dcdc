// Events as an event queue tells them to software, in Portals' words.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::portals {

// Handle of an object, valid at the rank that made it. The generation distinguishes a deleted object from the present
// one at its place.
template <class Object>
struct Handle {
  static constexpr std::uint32_t kNone = 0xffffffffU;
  std::uint32_t place = kNone;
  std::uint32_t generation = 0;
  [[nodiscard]] explicit operator bool() const { return place != kNone; }
  bool operator==(const Handle&) const = default;
};

using MdHandle = Handle<struct MdTag>;
using MeHandle = Handle<struct MeTag>;
using EqHandle = Handle<struct EqTag>;

enum class EventType : std::uint8_t {
  send_start,   // of a put, at its initiator: the card has taken the put
  send_end,     // the bytes have left: the memory may change
  ack,          // the bytes are in the target's memory
  put_start,    // at the target: the put has matched
  put_end,      // the bytes have arrived
  get_start,    // at the target: the get has matched
  get_end,      // the bytes have left: the memory may change
  reply_start,  // of a get, at its initiator: the first bytes arrive
  reply_end,    // all bytes have arrived
  unlink,       // a memory descriptor is gone by itself, and none of its operations is in progress
};
inline constexpr unsigned kEventTypes = 10;

[[nodiscard]] const char* name_of(EventType type);

struct Event {
  EventType type{};
  Rank initiator{};              // of the operation
  std::uint32_t portal = 0;      // index in the target's table
  std::uint64_t match_bits = 0;  // of the operation
  Bytes requested = 0;           // rlength
  Bytes manipulated = 0;         // mlength: less if the target has truncated the message
  Bytes offset = 0;              // in the target's descriptor; in events before an answer: in the initiator's
  MdHandle md{};                 // the descriptor whose queue has the event
  void* user = nullptr;          // user pointer of that descriptor
  std::uint64_t header_data = 0;
};

// Source: GASNet portals-conduit, dynamic_credit_mgnt.txt. A credit is one event and takes 128 B of an event queue.
inline constexpr Bytes kEventEntry = 128;

}  // namespace gasmeter::networks::portals

// What software is told by an event queue, in Portals' words.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::portals {

// Of an object of the rank that made it. The generation tells one that is gone from the one that has its place now.
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
  send_start,   // of a put, at its initiator: the card has taken it
  send_end,     // its bytes have left: the memory may change
  ack,          // they are in the target's memory
  put_start,    // at the target: it has matched
  put_end,      // its bytes are there
  get_start,    // at the target: it has matched
  get_end,      // the bytes have left: the memory may change
  reply_start,  // of a get, at its initiator: the first bytes come
  reply_end,    // all of them are there
  unlink,       // a memory descriptor is gone by itself; nothing of it is under way any more
};
inline constexpr unsigned kEventTypes = 10;

[[nodiscard]] const char* name_of(EventType type);

struct Event {
  EventType type{};
  Rank initiator{};              // of the operation
  std::uint32_t portal = 0;      // index in the target's table
  std::uint64_t match_bits = 0;  // of the operation
  Bytes requested = 0;           // rlength
  Bytes manipulated = 0;         // mlength: less where the target has truncated it
  Bytes offset = 0;      // in the descriptor at the target; of what its initiator is told before an answer, in its own
  MdHandle md{};         // whose queue it is
  void* user = nullptr;  // that one's
  std::uint64_t header_data = 0;
};

// GASNet portals-conduit, dynamic_credit_mgnt.txt: 128 B of an event queue for each credit, which is one event.
inline constexpr Bytes kEventEntry = 128;

}  // namespace gasmeter::networks::portals

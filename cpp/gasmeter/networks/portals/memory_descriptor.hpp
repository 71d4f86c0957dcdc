// Memory that operations move bytes from or to, and the rules that select it at a target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/portals/event.hpp"

namespace gasmeter::networks::portals {

inline constexpr Rank kAnyRank{std::numeric_limits<std::uint32_t>::max()};
inline constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t kPortals = 64;  // entries of a rank's table

enum class Unlink : std::uint8_t { retain, unlink };
enum class Position : std::uint8_t { before, after };

// An entry takes an operation of `source` whose bits equal `match` except where `ignore` is set.
struct MatchEntry {
  std::uint64_t match = 0;
  std::uint64_t ignore = 0;
  Rank source = kAnyRank;
  Unlink unlink = Unlink::unlink;  // goes with its descriptor
};

struct MemoryDescriptor {
  std::byte* start = nullptr;
  Bytes length = 0;
  // Operations that the descriptor still takes. Each put or get that it is the target of counts, each that begins from
  // it, and each acknowledgement.
  std::uint32_t threshold = kUnlimited;
  bool put = false;            // peers may put
  bool get = false;            // peers may get
  bool remote_offset = false;  // the initiator gives the offset; otherwise operations follow one another
  bool truncate = false;       // a message that does not fit is cut; otherwise it does not match
  bool no_ack = false;         // puts are not acknowledged, even if their initiators ask for it
  bool no_start_events = false;
  bool no_end_events = false;
  // With a local offset, the descriptor takes no more messages when less than this largest message is left. 0: until it
  // is full.
  Bytes most = 0;
  EqHandle events{};  // none: it has no events
  void* user = nullptr;
  const char* name = "";  // software's name for it in listings; a literal
};

}  // namespace gasmeter::networks::portals

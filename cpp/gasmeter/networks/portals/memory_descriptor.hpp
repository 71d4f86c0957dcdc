// Memory that operations move bytes from or to, and what selects it at a target.
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

// Takes an operation of `source` whose bits are `match` wherever `ignore` has none.
struct MatchEntry {
  std::uint64_t match = 0;
  std::uint64_t ignore = 0;
  Rank source = kAnyRank;
  Unlink unlink = Unlink::unlink;  // with its descriptor
};

struct MemoryDescriptor {
  std::byte* start = nullptr;
  Bytes length = 0;
  // Operations that it still takes: each put or get that it is the target of, or that is begun from it, and each
  // acknowledgement.
  std::uint32_t threshold = kUnlimited;
  bool put = false;            // others may put
  bool get = false;            // or get
  bool remote_offset = false;  // the initiator says where; else one operation comes behind the other
  bool truncate = false;       // what does not fit is cut; else it does not match
  bool no_ack = false;         // puts are not acknowledged, whatever their initiators ask for
  bool no_start_events = false;
  bool no_end_events = false;
  // With a local offset: it takes no more when less is left than the largest operation may have. 0: until it is full.
  Bytes most = 0;
  EqHandle events{};  // none: nobody is told
  void* user = nullptr;
  const char* name = "";  // what software calls it, in lists of what there is; a literal
};

}  // namespace gasmeter::networks::portals

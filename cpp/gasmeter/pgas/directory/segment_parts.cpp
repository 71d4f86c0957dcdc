#include "gasmeter/pgas/directory/segment_parts.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"

namespace gasmeter::pgas {
namespace {

constexpr Bytes kStaggers = SegmentParts::kStagger / SegmentParts::kAlignment;

}  // namespace

SegmentParts::SegmentParts(Bytes first, Bytes bytes, std::uint32_t node) {
  const Bytes aligned = (first + kAlignment - 1) / kAlignment * kAlignment;
  const Bytes end = bytes / kAlignment * kAlignment;
  begin_ = aligned + splitmix64(node) % kStaggers * kAlignment;
  bytes_ = end > begin_ ? end - begin_ : 0;
}

std::optional<Bytes> SegmentParts::take(Arena& arena, Bytes room) const {
  for (auto hole = arena.holes.begin(); hole != arena.holes.end(); ++hole) {
    if (hole->second < room) continue;
    const Bytes at = hole->first;
    const Bytes rest = hole->second - room;
    arena.holes.erase(hole);
    if (rest != 0) arena.holes.emplace(at + room, rest);
    return at;
  }
  if (room > left()) return std::nullopt;
  arena.top += room;
  return arena.top - room;
}

void SegmentParts::give(Arena& arena, Bytes at, Bytes room) {
  const auto next = arena.holes.lower_bound(at);
  const bool meets_next = next != arena.holes.end() && next->first < at + room;
  const bool meets_last = next != arena.holes.begin() && std::prev(next)->first + std::prev(next)->second > at;
  if (at + room > arena.top || meets_next || meets_last) {
    throw UsageError("shared space: " + std::to_string(room) + " bytes are given back that were not taken");
  }
  auto hole = arena.holes.emplace_hint(next, at, room);
  if (const auto after = std::next(hole); after != arena.holes.end() && after->first == at + room) {
    hole->second += after->second;
    arena.holes.erase(after);
  }
  if (hole != arena.holes.begin()) {
    if (const auto before = std::prev(hole); before->first + before->second == at) {
      before->second += hole->second;
      arena.holes.erase(hole);
      hole = before;
    }
  }
  if (hole->first + hole->second == arena.top) {
    arena.top = hole->first;
    arena.holes.erase(hole);
  }
}

std::optional<Bytes> SegmentParts::take_common(Bytes part) {
  const std::optional<Bytes> at = take(common_, room(part));
  return at ? std::optional(begin_ + *at) : std::nullopt;
}

std::optional<Bytes> SegmentParts::take_own(Bytes part) {
  const std::optional<Bytes> at = take(local_, room(part));
  return at ? std::optional(begin_ + bytes_ - *at - room(part)) : std::nullopt;
}

void SegmentParts::give_back(Bytes base, Bytes part) {
  const Bytes taken = room(part);
  if (base < begin_ || base - begin_ > bytes_ || taken > bytes_ - (base - begin_)) {
    throw UsageError("shared space: bytes outside its memory are given back");
  }
  const Bytes at = base - begin_;
  if (at < common_.top) {
    give(common_, at, taken);
  } else {
    give(local_, bytes_ - at - taken, taken);
  }
}

}  // namespace gasmeter::pgas

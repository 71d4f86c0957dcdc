// DIS Field over shared bytes, of which each rank has a block. All ranks search their blocks for a token at the same
// time, and then change the matches.
//
// A token may begin in one block and end in another. Where it repeats parts of itself, a match that begins before a
// block decides which matches in the block count. A rank therefore reads a token's width of bytes to either side, its
// overhangs, and further ones where matches hang together.
//
// `Array`: get(index), put(index, byte), own(). `work(instructions)`: charges the rank's computation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "gasmeter/bench/dis/field.hpp"
#include "gasmeter/bench/dis/work.hpp"

namespace gasmeter::bench::dis {

// State of a token's search that ranks pass on, over all blocks up to theirs: the bytes behind the last match, and the
// number of matches.
struct Tail {
  SubField open;
  std::uint64_t matches = 0;

  // Join two neighbouring pieces; the order counts.
  [[nodiscard]] Tail then(const Tail& next) const {
    Tail both = next;
    if (next.matches == 0) {
      both.open = open;
      both.open.add(next.open);
    }
    both.matches += matches;
    return both;
  }
  bool operator==(const Tail&) const = default;
};

// A rank's part of the search for one token after the other. All ranks meet between search() and change(), and again
// after change().
template <class Array, class Work_, Fault kFault = Fault::none>
class FieldRank {
 public:
  // Owns `count` bytes from `first` on, of `size`.
  FieldRank(Array array, Work_ work, std::uint64_t size, std::uint64_t first, std::uint64_t count)
      : array_(std::move(array)), work_(std::move(work)), size_(size), first_(first), end_(first + count) {}

  // Search; return how many matches begin in this rank's block. Reads the old bytes of all ranks before any rank
  // changes a byte.
  std::uint64_t search(const Token& token, std::uint64_t offset) {
    token_ = token;
    offset_ = offset;
    changes_.clear();
    matches_.clear();
    pieces_.assign(1, {});
    if (first_ == end_) return 0;
    read_overhang(before_, first_ - std::min<std::uint64_t>(first_, token.width), first_);
    behind_.from = behind_.to = end_;
    // A scan that comes from the left would go on at `entry`.
    const std::uint64_t entry = resume(first_);
    scan(std::min(entry, end_));
    for (const std::uint64_t match : matches_) note_changes(match);
    return matches_.size();
  }

  // Change the first `allowed` matches; the others do not count.
  void change(std::uint64_t allowed) {
    const std::uint64_t counting = std::min<std::uint64_t>(allowed, matches_.size());
    changes_.resize(counting * token_.width);
    pieces_.resize(counting + 1);
    for (const auto& [at, byte] : changes_) {
      if (kFault == Fault::no_change) break;
      work_(Work::kChanged);
      if (is_own(at)) {
        array_.own()[at - first_] = byte;
        ++own_accesses_;
      } else {
        array_.put(at, byte);
      }
    }
  }

  // Return the pieces into which matches divide the block, after change(): one more than there are matches.
  [[nodiscard]] const std::vector<SubField>& pieces() const { return pieces_; }
  [[nodiscard]] Tail tail() const { return {pieces_.back(), pieces_.size() - 1}; }
  [[nodiscard]] std::uint64_t own_accesses() const { return own_accesses_; }

 private:
  // Bytes beside the block.
  struct Overhang {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::vector<Byte> bytes;

    [[nodiscard]] bool holds(std::uint64_t at) const { return at >= from && at < to; }
  };

  [[nodiscard]] bool is_own(std::uint64_t at) const { return at >= first_ && at < end_; }
  void read_overhang(Overhang& overhang, std::uint64_t from, std::uint64_t to) {
    overhang.from = from;
    overhang.to = to;
    overhang.bytes.clear();
    for (std::uint64_t at = from; at < to; ++at) {
      overhang.bytes.push_back(array_.get(at));
      work_(Work::kByte);
    }
  }
  [[nodiscard]] Byte byte(std::uint64_t at) const {
    if (is_own(at)) return array_.own()[at - first_];
    if (before_.holds(at)) return before_.bytes[at - before_.from];
    if (behind_.holds(at)) return behind_.bytes[at - behind_.from];
    return array_.get(at);
  }

  // Tell whether the token stands at this place, whether or not a scan would match it.
  [[nodiscard]] bool stands_at(std::uint64_t at) {
    if (at + token_.width > size_) return false;
    for (unsigned i = 0; i < token_.width; ++i) {
      if (i != 0) work_(Work::kCompared);
      if (byte(at + i) != token_.bytes[i]) return false;
    }
    return true;
  }
  // Return the first place from `at` on that a scan from the begin of the field looks at. If no match begins in width -
  // 1 places in a row, the scan looks at the place behind them: from there on it is followed.
  [[nodiscard]] std::uint64_t resume(std::uint64_t at) {
    std::uint64_t origin = at;
    for (std::uint64_t free = 0; origin != 0 && free + 1 < token_.width;) {
      free = stands_at(origin - 1) ? 0 : free + 1;
      --origin;
    }
    if (origin != 0) origin += token_.width - 1;
    while (origin < at) origin += stands_at(origin) ? token_.width : 1;
    return origin;
  }

  void scan(std::uint64_t from) {
    const std::span<const Byte> block = array_.own();
    std::uint64_t at = from;
    const auto pass = [&](std::uint64_t to) {
      pieces_.back().add(block.subspan(at - first_, to - at));
      work_(Work::kByte * (to - at));
      own_accesses_ += to - at;
      at = to;
    };
    for (std::uint64_t look = from; look < end_;) {
      const auto* const start = block.data() + (look - first_);
      const void* const hit = std::memchr(start, token_.bytes[0], end_ - look);
      const std::uint64_t candidate =
          hit == nullptr ? end_ : look + static_cast<std::uint64_t>(static_cast<const Byte*>(hit) - start);
      // Bytes of the next block that the token may need are read when the scan gets there.
      if (candidate + token_.width > end_ && behind_.bytes.empty()) {
        pass(candidate);
        read_overhang(behind_, end_, std::min(size_, end_ + token_.width));
      }
      if (candidate == end_) break;
      if (!stands_at(candidate)) {
        look = candidate + 1;
        continue;
      }
      pass(candidate);
      matches_.push_back(candidate);
      pieces_.emplace_back();
      at = look = candidate + token_.width;
    }
    if (at < end_) pass(end_);
    if (behind_.bytes.empty()) read_overhang(behind_, end_, std::min(size_, end_ + token_.width));
  }

  void note_changes(std::uint64_t match) {
    for (std::uint64_t at = match; at < match + token_.width; ++at) changes_.emplace_back(at, changed(at));
  }
  // Return the new value of a matched byte. A scan changes the byte that is added before this one, if that byte stands
  // in front.
  [[nodiscard]] Byte changed(std::uint64_t at) {
    const std::uint64_t other = (at + offset_) % size_;
    const bool is_changed = other < at && is_matched(other);
    return static_cast<Byte>(byte(at) + (is_changed ? changed(other) : byte(other)));
  }
  [[nodiscard]] bool is_matched(std::uint64_t at) {
    std::uint64_t place = resume(at - std::min<std::uint64_t>(at, token_.width - 1));
    while (place <= at) {
      if (!stands_at(place)) {
        ++place;
      } else if (place + token_.width > at) {
        return true;
      } else {
        place += token_.width;
      }
    }
    return false;
  }

  Array array_;
  Work_ work_;
  std::uint64_t size_;
  std::uint64_t first_;
  std::uint64_t end_;
  Token token_;
  std::uint64_t offset_ = 0;
  Overhang before_;
  Overhang behind_;
  std::vector<std::uint64_t> matches_;
  std::vector<SubField> pieces_;
  std::vector<std::pair<std::uint64_t, Byte>> changes_;
  std::uint64_t own_accesses_ = 0;
};

}  // namespace gasmeter::bench::dis

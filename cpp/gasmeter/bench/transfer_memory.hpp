// Memory of transfers, for the kernels and raw programs that have these options: where it lies (`local` and `offset`),
// and how many buffers there are (`sources` and `order`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/info.hpp"
#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/settings.hpp"
#include "gasmeter/bench/source_order.hpp"

namespace gasmeter::bench {

[[nodiscard]] inline OptionInfo local_option() {
  return {"local",
          "choice",
          "outside",
          "",
          {"outside", "segment"},
          "where the buffer lies: in memory of its own, or in the segment, which a card may read by itself"};
}
[[nodiscard]] inline OptionInfo offset_option() {
  return {"offset", "int", "0", "B", {}, "how far behind a page's start both sides of a transfer begin"};
}

[[nodiscard]] inline OptionInfo sources_option() {
  return {"sources",
          "int",
          "1",
          "buffers",
          {},
          "of puts and gets from outside the segment: so many buffers, each with a place of its own at the other rank"};
}
[[nodiscard]] inline OptionInfo order_option() {
  return {
      "order",
      "choice",
      "cyclic",
      "",
      {"cyclic", "zipf", "sweep"},
      "which buffer is next: one behind the other; at random, the k-th 1/k times as often as the first; up and down"};
}

[[nodiscard]] inline bool is_in_segment(const Settings& settings) {
  return settings.text("local") == "segment";
}
[[nodiscard]] inline Bytes offset_of(const Settings& settings) {
  return static_cast<Bytes>(settings.integer("offset"));
}

[[nodiscard]] inline std::uint64_t sources_of(const Settings& settings) {
  return static_cast<std::uint64_t>(settings.integer("sources"));
}

inline void check_offset(const Settings& settings) {
  constexpr auto kMost = static_cast<std::int64_t>(AlignedBuffer::kAlignment) - 1;
  const std::int64_t offset = settings.integer("offset");
  if (offset < 0 || offset > kMost) {
    throw UsageError("kernel " + settings.kernel + ": option 'offset=" + settings.text("offset") +
                     "': allowed are 0 to " + std::to_string(kMost) + " bytes");
  }
}

inline void check_sources(const Settings& settings) {
  constexpr std::int64_t kMost = 65536;
  const std::int64_t sources = settings.integer("sources");
  const std::string asked = "kernel " + settings.kernel + ": option 'sources=" + settings.text("sources") + "': ";
  if (sources < 1 || sources > kMost) {
    throw UsageError(asked + "allowed are 1 to " + std::to_string(kMost) + " buffers");
  }
  if (sources > 1 && (is_in_segment(settings) || (settings.op != "put" && settings.op != "get"))) {
    throw UsageError(asked + "several are for ops put and get with local=outside");
  }
}

// Offsets in a rank's segment: the memory that the other rank reaches, and on pages behind it the buffer, if the buffer
// lies in the segment.
[[nodiscard]] inline Bytes remote_at(const Settings& settings) {
  return offset_of(settings);
}
[[nodiscard]] inline Bytes local_at(const Settings& settings) {
  constexpr Bytes kPage = AlignedBuffer::kAlignment;
  return portions(checked_sum("transfer: bytes of a rank", settings.size, remote_at(settings)), kPage) * kPage +
         offset_of(settings);
}
// Return the distance between the memories of several buffers: whole pages.
[[nodiscard]] inline Bytes remote_stride(const Settings& settings) {
  return local_at(settings) - offset_of(settings);
}
[[nodiscard]] inline Bytes share_of_transfers(const Settings& settings) {
  constexpr const char* kWhat = "transfer: bytes of a rank";
  if (is_in_segment(settings)) return checked_sum(kWhat, local_at(settings), settings.size);
  const Bytes others = checked_product(kWhat, sources_of(settings) - 1, remote_stride(settings));
  return checked_sum(kWhat, checked_sum(kWhat, remote_at(settings), others), settings.size);
}

// Return the offset of the slots of checking blocks (numbered_slots.hpp). They lie behind the memory that timed blocks
// use, on pages of their own: at the rank that is reached and, if the buffer lies in the segment, at the buffer's rank.
[[nodiscard]] inline Bytes slots_at(const Settings& settings) {
  constexpr Bytes kPage = AlignedBuffer::kAlignment;
  return (share_of_transfers(settings) + kPage - 1) / kPage * kPage + offset_of(settings);
}
[[nodiscard]] inline std::uint64_t slots_of(const Settings& settings) {
  const Bytes stride = numbered::stride_of(settings.size);
  return numbered::slots_of(is_in_segment(settings) ? 2 * stride : stride, slots_at(settings),
                            settings.largest_segment);
}
[[nodiscard]] inline Bytes bytes_of_slots(const Settings& settings) {
  return slots_of(settings) * numbered::stride_of(settings.size);
}
[[nodiscard]] inline Bytes share_with_slots(const Settings& settings) {
  if (slots_of(settings) == 0) return share_of_transfers(settings);
  return slots_at(settings) + (is_in_segment(settings) ? 2 : 1) * bytes_of_slots(settings);
}

// The memory of a transfer at the rank that begins it: `size` bytes at `in_segment`, or in an allocation, `offset`
// bytes behind a page's start. Each of several buffers is an allocation.
class LocalMemory {
 public:
  LocalMemory(const Settings& settings, std::byte* in_segment, Bytes size, Bytes offset, std::uint64_t sources = 1)
      : own_(is_in_segment(settings) ? 0 : offset + size),
        bytes_(is_in_segment(settings) ? in_segment : own_.data() + offset, size),
        offset_(offset) {
    more_.reserve(sources - 1);
    for (std::uint64_t i = 1; i < sources; ++i) more_.emplace_back(offset + size);
  }

  [[nodiscard]] std::byte* data() const { return bytes_.data(); }
  [[nodiscard]] Bytes size() const { return bytes_.size(); }
  operator std::span<std::byte>() const { return bytes_; }
  [[nodiscard]] std::span<std::byte> source(std::uint64_t which) const {
    return which == 0 ? bytes_ : std::span(more_[which - 1].data() + offset_, bytes_.size());
  }

 private:
  AlignedBuffer own_;
  std::span<std::byte> bytes_;
  Bytes offset_;
  std::vector<AlignedBuffer> more_;
};

// Puts or gets one after the other: the buffer of each, and its place at the other rank. A place is a pair of both.
// There is a place for each of several buffers, and in checking blocks with spread data for each operation. The number
// of a place is that of its data.
class TransferStream {
 public:
  TransferStream(const Settings& settings, const LocalMemory& buffers, std::byte* remote)
      : buffers_(buffers),
        there_(remote),
        sources_(sources_of(settings)),
        stride_(remote_stride(settings)),
        order_(sources_, settings.text("order"), settings.seed),
        is_one_place_(sources_ == 1) {}

  // Call move(there, here) for operations [first, first + count) behind those that passed() has counted.
  template <class Move>
  GASMETER_INLINE void each(std::uint64_t first, std::uint64_t count, Move move) const {
    if (GASMETER_LIKELY(is_one_place_)) {
      for (std::uint64_t i = 0; i < count; ++i) move(there_, buffers_.data());
      return;
    }
    for (std::uint64_t i = first; i < first + count; ++i) {
      const std::uint64_t place = place_of(i);
      move(there(place), here(place).data());
    }
  }
  // Count operations. Every rank calls this, whichever does them, so that all know which is next.
  void passed(std::uint64_t operations) { passed_ += operations; }

  // Give each operation of a block a slot of its own, of slots_of(settings), until gather(): at `there` in the other
  // rank, at `here` in this one.
  void spread(std::byte* remote, std::byte* local) {
    slots_there_ = remote;
    slots_here_ = local;
    is_one_place_ = false;
  }
  void gather() {
    slots_there_ = slots_here_ = nullptr;
    is_one_place_ = sources_ == 1;
  }

  [[nodiscard]] std::uint64_t sources() const { return sources_; }
  // Return the places of operations [first, first + count), each once.
  [[nodiscard]] std::vector<std::uint64_t> places(std::uint64_t first, std::uint64_t count) const {
    if (is_one_place_) return {0};
    if (!is_spread()) return order_.of(passed_ + first, count);
    std::vector<std::uint64_t> slots(count);
    std::iota(slots.begin(), slots.end(), first);
    return slots;
  }
  // Return a place at the other rank, by its owner's addresses.
  [[nodiscard]] GASMETER_INLINE std::byte* there(std::uint64_t place) const {
    return is_spread() ? slots_there_ + place * slot_stride() : there_ + place * stride_;
  }
  [[nodiscard]] GASMETER_INLINE std::span<std::byte> here(std::uint64_t place) const {
    return is_spread() ? std::span(slots_here_ + place * slot_stride(), buffers_.size()) : buffers_.source(place);
  }

 private:
  [[nodiscard]] bool is_spread() const { return slots_there_ != nullptr; }
  [[nodiscard]] Bytes slot_stride() const { return numbered::stride_of(buffers_.size()); }
  [[nodiscard]] std::uint64_t place_of(std::uint64_t operation) const {
    return is_spread() ? operation : order_.at(passed_ + operation);
  }

  const LocalMemory& buffers_;
  std::byte* there_;
  std::uint64_t sources_;
  Bytes stride_;
  SourceOrder order_;
  bool is_one_place_;
  std::byte* slots_there_ = nullptr;
  std::byte* slots_here_ = nullptr;
  std::uint64_t passed_ = 0;
};

}  // namespace gasmeter::bench

// Events posted for a window, as the window's list holds them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/topology/route.hpp"

namespace gasmeter::sim {

// An express packet as a word: by which port of the node it comes, over which channel of the link, and its way from
// there (WayCode; in trees TreeCode). Nobody touches the packet before its way ends. The word is built in registers: a
// word whose parts have just been stored one by one cannot be read as a whole at once.
class Express {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};  // an action; no way has this word
  static constexpr unsigned kWayShift = 4;

  explicit constexpr Express(std::uint64_t word) : word_(word) {}
  constexpr Express(std::uint32_t port, std::uint32_t channel, std::uint64_t way)
      : word_(input(port, channel) | way << kWayShift) {}

  // Return the word's part for an input; links with one channel may end at any of 16 ports, given as `port`.
  [[nodiscard]] static constexpr std::uint64_t input(std::uint32_t port, std::uint32_t channel) {
    return port | std::uint64_t{channel} << 3U;
  }

  [[nodiscard]] constexpr std::uint64_t word() const { return word_; }
  [[nodiscard]] constexpr std::uint64_t way() const { return word_ >> kWayShift; }
  [[nodiscard]] constexpr std::uint32_t port() const { return static_cast<std::uint32_t>(word_) & 7U; }
  [[nodiscard]] constexpr std::uint32_t channel() const { return static_cast<std::uint32_t>(word_) >> 3U & 1U; }
  [[nodiscard]] constexpr std::uint32_t whole_port() const { return static_cast<std::uint32_t>(word_) & 15U; }
  [[nodiscard]] constexpr bool goes_on() const { return way() != 0; }

 private:
  std::uint64_t word_;
};

// An entry of a window. Entries are ordered by `place` (the node, then the time in the window), then by the tie.
struct Posted {
  Posted() = default;  // holds arbitrary values
  Posted(std::uint64_t at_place, Action* what, std::uint64_t as_express = Express::kNone)
      : place(at_place), action(what), express(as_express) {}

  std::uint64_t place;
  Action* action;  // for an express packet together with its length: carried() and bytes()
  std::uint64_t express;

  [[nodiscard]] static constexpr std::uint64_t at(NodeId node, std::int64_t offset_ps) {
    return (static_cast<std::uint64_t>(index(node)) << 32U) | static_cast<std::uint64_t>(offset_ps);
  }
  [[nodiscard]] constexpr std::uint32_t node() const { return static_cast<std::uint32_t>(place >> 32U); }
  [[nodiscard]] constexpr std::int64_t offset() const { return static_cast<std::int64_t>(place & 0xffffffffU); }
  [[nodiscard]] constexpr bool is_express() const { return express != Express::kNone; }

  // Pack the packet's length above its address: addresses of programs have 48 bits.
  [[nodiscard]] static Action* with_bytes(Action& packet, std::uint16_t bytes) {
    return reinterpret_cast<Action*>(reinterpret_cast<std::uintptr_t>(&packet) | std::uintptr_t{bytes} << kAddressBits);
  }
  [[nodiscard]] std::uint16_t bytes() const {
    return static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(action) >> kAddressBits);
  }
  // Return the action, or the packet of an express entry.
  [[nodiscard]] Action* carried() const {
    constexpr std::uintptr_t address = (std::uintptr_t{1} << kAddressBits) - 1;
    return reinterpret_cast<Action*>(reinterpret_cast<std::uintptr_t>(action) & address);
  }

 private:
  static constexpr unsigned kAddressBits = 48;
  static_assert(sizeof(std::uintptr_t) == 8);
};

// Entries in no order, in chunks that are reused (PostedChunks). The number of entries in a window grows and shrinks by
// a factor, and no window keeps memory that it no longer needs.
struct alignas(1024) PostedChunk {
  static constexpr std::size_t kBytes = 1024;
  static constexpr std::size_t kEntries = 42;

  PostedChunk* next = nullptr;  // in a list, or among free chunks
  std::uint64_t unused = 0;     // lets the last entry end where the chunk does
  std::array<Posted, kEntries> entries;

  // Tell whether a place is a chunk's end: behind the last entry begins the next chunk's place; null is the end of an
  // empty list.
  [[nodiscard]] static GASMETER_INLINE bool is_end(const Posted* place) {
    return reinterpret_cast<std::uintptr_t>(place) % kBytes == 0;
  }
  // Return the chunk that holds the entry `last`.
  [[nodiscard]] static PostedChunk& of(Posted* last) {
    auto* const inside = reinterpret_cast<std::byte*>(last);
    return *reinterpret_cast<PostedChunk*>(inside - reinterpret_cast<std::uintptr_t>(last) % kBytes);
  }
};
static_assert(sizeof(PostedChunk) == PostedChunk::kBytes);

// A view of chunks that follow one another; their holder gives them back.
struct PostedList {
  PostedChunk* first = nullptr;  // null: empty
  Posted* end = nullptr;         // place of the next entry, if there is room in that chunk

  [[nodiscard]] bool empty() const { return first == nullptr; }
  [[nodiscard]] PostedChunk& last() const { return PostedChunk::of(end - 1); }
  // Call of(entries, count) for each chunk.
  template <class Of>
  void each_chunk(Of&& of) const {
    for (PostedChunk* chunk = first; chunk != nullptr; chunk = chunk->next) {
      Posted* const from = chunk->entries.data();
      of(from, chunk->next == nullptr ? static_cast<std::size_t>(end - from) : PostedChunk::kEntries);
    }
  }
  [[nodiscard]] std::size_t size() const {
    std::size_t sum = 0;
    each_chunk([&sum](const Posted*, std::size_t count) { sum += count; });
    return sum;
  }
};

// Free chunks, and the memory of all chunks.
class PostedChunks {
 public:
  // Append a free chunk to the list; return the place of its first entry.
  [[nodiscard]] Posted* extend(PostedList& list) {
    if (GASMETER_UNLIKELY(free_ == nullptr)) make_more();
    PostedChunk* const chunk = std::exchange(free_, free_->next);
    chunk->next = nullptr;
    (list.empty() ? list.first : list.last().next) = chunk;
    return chunk->entries.data();
  }
  void give(const PostedList& list) {
    if (list.empty()) return;
    list.last().next = free_;
    free_ = list.first;
  }
  // Free all chunks behind a list's last one.
  void cut(const PostedList& list) {
    PostedChunk* rest = std::exchange(list.last().next, nullptr);
    while (rest != nullptr) {
      PostedChunk* const chunk = std::exchange(rest, rest->next);
      chunk->next = free_;
      free_ = chunk;
    }
  }

 private:
  static constexpr std::size_t kMost = 64;  // made at a time; fewer at first, as most simulations are small

  GASMETER_NOINLINE void make_more() {
    const std::size_t count = std::min(kMost, made_ / 2 + 4);
    all_.push_back(std::make_unique_for_overwrite<PostedChunk[]>(count));
    for (std::size_t i = count; i-- != 0;) {
      all_.back()[i].next = free_;
      free_ = &all_.back()[i];
    }
    made_ += count;
  }

  PostedChunk* free_ = nullptr;
  std::size_t made_ = 0;
  std::vector<std::unique_ptr<PostedChunk[]>> all_;
};

// Entries in a row, whose memory holds the largest count so far.
class PostedRow {
 public:
  // Return room for `count` entries with arbitrary values; the old entries are gone.
  [[nodiscard]] Posted* of(std::size_t count) {
    if (count > capacity_) {
      entries_.reset();
      capacity_ = count + count / 8;
      entries_.reset(static_cast<Posted*>(::operator new(capacity_ * sizeof(Posted))));
    }
    return entries_.get();
  }

 private:
  static_assert(std::is_trivially_copyable_v<Posted> && std::is_trivially_destructible_v<Posted>);
  struct Free {
    void operator()(Posted* entries) const { ::operator delete(entries); }
  };

  std::unique_ptr<Posted, Free> entries_;
  std::size_t capacity_ = 0;
};

}  // namespace gasmeter::sim

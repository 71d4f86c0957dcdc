// What is posted for a window, as its list holds it.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/route.hpp"

namespace gasmeter::sim {

// What comes over a link and is not to be touched before its way ends, as a word: it is built in registers, since parts
// of a word that have just been stored one by one cannot be read as a whole at once.
class Express {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};  // an action
  static constexpr Hop kEnd{7, 1};

  explicit constexpr Express(std::uint64_t word) : word_(word) {}
  // By which port of the node it comes, over which channel of the link; the output it takes there, or kEnd, and what is
  // left of its way behind that (WayCode).
  Express(std::uint32_t port, std::uint32_t channel, const Hop& hop, std::uint64_t way, std::uint16_t bytes)
      : word_(word_of(port, channel, hop, way, std::uint64_t{bytes} << kWayBits)) {}

  // The same over another link.
  [[nodiscard]] Express over(std::uint32_t port, std::uint32_t channel, const Hop& hop, std::uint64_t way) const {
    return Express(word_of(port, channel, hop, way, word_ & (std::uint64_t{0xffff} << kWayBits)));
  }

  [[nodiscard]] std::uint64_t word() const { return word_; }
  [[nodiscard]] std::uint64_t way() const { return word_ & ((std::uint64_t{1} << kWayBits) - 1); }
  [[nodiscard]] std::uint16_t bytes() const { return static_cast<std::uint16_t>(word_ >> kWayBits); }
  [[nodiscard]] std::uint32_t port() const { return static_cast<std::uint32_t>(word_ >> 56U) & 7U; }
  [[nodiscard]] std::uint32_t channel() const { return static_cast<std::uint32_t>(word_ >> 59U) & 1U; }
  [[nodiscard]] Hop hop() const {
    return {static_cast<std::uint32_t>(word_ >> 60U) & 7U, static_cast<std::uint32_t>(word_ >> 63U)};
  }
  [[nodiscard]] bool goes_on() const { return (word_ >> 60U & 7U) != kEnd.port; }

 private:
  static constexpr unsigned kWayBits = 40;
  // `bytes`: in their place.
  [[nodiscard]] static std::uint64_t word_of(std::uint32_t port, std::uint32_t channel, const Hop& hop,
                                             std::uint64_t way, std::uint64_t bytes) {
    return way | bytes | std::uint64_t{port} << 56U | std::uint64_t{channel} << 59U | std::uint64_t{hop.port} << 60U |
           std::uint64_t{hop.channel} << 63U;
  }

  std::uint64_t word_;
};

// An entry of a window. `place` orders by node, then by time in the window; then the tie does.
struct Posted {
  Posted() = default;
  Posted(std::uint64_t at_place, Action* what, std::uint64_t as_express = Express::kNone)
      : place(at_place), action(what), express(as_express) {}

  std::uint64_t place = 0;
  Action* action = nullptr;  // or what comes express
  std::uint64_t express = Express::kNone;

  [[nodiscard]] static constexpr std::uint64_t at(NodeId node, std::int64_t offset_ps) {
    return (static_cast<std::uint64_t>(index(node)) << 32U) | static_cast<std::uint64_t>(offset_ps);
  }
  [[nodiscard]] constexpr std::uint32_t node() const { return static_cast<std::uint32_t>(place >> 32U); }
  [[nodiscard]] constexpr std::int64_t offset() const { return static_cast<std::int64_t>(place & 0xffffffffU); }
  [[nodiscard]] constexpr bool is_express() const { return express != Express::kNone; }
};

// Entries in a row. A std::vector, but that what is appended is written where it stays, in a few instructions wherever
// that is called from, and that nothing is filled in when there are to be more.
class PostedList {
 public:
  PostedList() = default;
  PostedList(PostedList&& other) noexcept
      : entries_(std::move(other.entries_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  PostedList& operator=(PostedList&& other) noexcept {
    PostedList taken(std::move(other));
    swap(taken);
    return *this;
  }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] Posted* begin() { return entries_.get(); }
  [[nodiscard]] Posted* end() { return entries_.get() + size_; }
  [[nodiscard]] Posted& operator[](std::size_t place) { return entries_.get()[place]; }

  // There has to be room.
  GASMETER_INLINE void append(std::uint64_t place, Action* what, std::uint64_t express) {
    ::new (static_cast<void*>(entries_.get() + size_++)) Posted(place, what, express);
  }
  void clear() { size_ = 0; }
  // New ones hold anything.
  void resize(std::size_t count) {
    reserve(count);
    size_ = count;
  }
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    std::unique_ptr<Posted, Free> more(static_cast<Posted*>(::operator new(count * sizeof(Posted))));
    if (size_ != 0) std::memcpy(static_cast<void*>(more.get()), entries_.get(), size_ * sizeof(Posted));
    entries_ = std::move(more);
    capacity_ = count;
  }
  // The same entries in another list's memory, where there is room for them.
  void move_to(PostedList& roomier) {
    if (size_ != 0) std::memcpy(static_cast<void*>(roomier.entries_.get()), entries_.get(), size_ * sizeof(Posted));
    roomier.size_ = size_;
    swap(roomier);
  }
  void swap(PostedList& other) noexcept {
    entries_.swap(other.entries_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  static_assert(std::is_trivially_copyable_v<Posted> && std::is_trivially_destructible_v<Posted>);
  struct Free {
    void operator()(Posted* entries) const { ::operator delete(entries); }
  };

  std::unique_ptr<Posted, Free> entries_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace gasmeter::sim

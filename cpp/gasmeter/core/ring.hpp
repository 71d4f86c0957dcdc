// A ring of variable-length messages from one rank to another through memory both map.
//
// A record starts with an 8-byte header word that is never zero; the receiver waits for the word to become non-zero, so
// header and arguments of a short message travel in one cache line and nothing else has to move. The sender keeps the
// word behind its newest record zero ("zero ahead"), in chunks, after it has published, off the critical path. The
// receiver tells how far it has read once per quarter of the ring.
//
//   record:  header 8 | [Long: destination 8] | arguments 4 each | pad to 16 | Medium payload | pad to 16
//
// Alternatives measured before: head and tail indices in lines of their own cost a second line transfer per message
// (about 2x the raw round trip); clearing by the receiver costs an upgrade of every line.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"

namespace gasmeter::core {

namespace ring {

inline constexpr Bytes kGranule = 16;  // payload behind a header is aligned for any type
inline constexpr Bytes kZeroChunk = 256;
inline constexpr Bytes kControlBytes = kNoSharing;

constexpr Bytes round_up(Bytes n, Bytes granule) {
  return (n + granule - 1) & ~(granule - 1);
}

// Ring memory: control line, then `bytes` of records (a power of two).
constexpr Bytes footprint(Bytes bytes) {
  return kControlBytes + bytes;
}

// Header word: bits 0-7 handler, 8-12 arguments, 13-14 kind, 15 always one, 32-63 payload bytes (pad: record bytes).
enum class Kind : std::uint8_t { pad, short_message, medium, long_message };

struct Header {
  HandlerIndex handler{};
  std::uint8_t arguments = 0;
  Kind kind = Kind::pad;
  std::uint32_t size = 0;

  [[nodiscard]] static constexpr std::uint64_t pack(HandlerIndex handler, unsigned arguments, Kind kind, Bytes size) {
    return (static_cast<std::uint64_t>(size) << 32) | (std::uint64_t{1} << 15) |
           (static_cast<std::uint64_t>(kind) << 13) | (static_cast<std::uint64_t>(arguments) << 8) | index(handler);
  }
  [[nodiscard]] static constexpr Header unpack(std::uint64_t word) {
    return {static_cast<HandlerIndex>(word & 0xffU), static_cast<std::uint8_t>((word >> 8) & 0x1fU),
            static_cast<Kind>((word >> 13) & 3U), static_cast<std::uint32_t>(word >> 32)};
  }
};

// Bytes in front of the payload.
constexpr Bytes prefix(Kind kind, unsigned arguments) {
  return round_up((kind == Kind::long_message ? 16U : 8U) + Bytes{4} * arguments, kGranule);
}

constexpr Bytes record(Kind kind, unsigned arguments, Bytes payload) {
  return prefix(kind, arguments) + (kind == Kind::medium ? round_up(payload, kGranule) : 0);
}

// The largest Medium payload that a ring takes with 16 arguments: a quarter of it, so that a record and the padding in
// front of it always fit into what the receiver has announced.
constexpr Bytes largest_payload(Bytes bytes) {
  return bytes / 4 - prefix(Kind::medium, conduit::kMaxArguments);
}

struct Control {
  alignas(kNoSharing) std::atomic<std::uint64_t> consumed;  // position up to which the receiver has read
};
static_assert(sizeof(Control) == kControlBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// A position in the ring is a count of bytes since the start; it never wraps.
struct Memory {
  Control* control = nullptr;
  std::byte* data = nullptr;
  std::uint64_t mask = 0;

  Memory() = default;
  // `at`: zeroed memory of footprint(bytes), aligned to kNoSharing.
  Memory(std::byte* at, Bytes bytes)
      : control(reinterpret_cast<Control*>(at)), data(at + kControlBytes), mask(bytes - 1) {}

  [[nodiscard]] Bytes bytes() const { return mask + 1; }
  [[nodiscard]] GASMETER_INLINE std::byte* at(std::uint64_t position) const { return data + (position & mask); }
  [[nodiscard]] GASMETER_INLINE std::atomic_ref<std::uint64_t> word(std::uint64_t position) const {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at(position)));
  }
};

}  // namespace ring

// The sending end; private to one rank (with threads: behind a lock).
class RingSender {
 public:
  RingSender() = default;
  explicit RingSender(ring::Memory memory) : memory_(memory), room_(memory.bytes()), zeroed_(memory.bytes()) {}

  // Room for a record of `length` bytes, contiguous. The record starts at the returned address; null: no room now.
  // Nothing is published; without a publish() the room simply stays free.
  [[nodiscard]] GASMETER_INLINE std::byte* reserve(Bytes length) {
    if (GASMETER_UNLIKELY((tail_ & memory_.mask) + length > memory_.bytes() || tail_ + length + kMargin > room_)) {
      if (!make_room(length)) return nullptr;
    }
    return memory_.at(tail_);
  }

  // Makes the record at the last reserve() visible; `length` may be less than was reserved.
  GASMETER_INLINE void publish(std::uint64_t header, Bytes length) {
    const std::uint64_t next = tail_ + length;
    if (GASMETER_UNLIKELY(next >= zeroed_)) zero_behind(next);
    memory_.word(tail_).store(header, std::memory_order_release);
    tail_ = next;
    if (GASMETER_UNLIKELY(zeroed_ - next < ring::kZeroChunk / 2)) zero_ahead();
  }

  [[nodiscard]] std::uint64_t position() const { return tail_; }

 private:
  // Zeroing runs at most two chunks ahead of the newest record; it must not reach what the receiver has not read.
  static constexpr Bytes kMargin = 2 * ring::kZeroChunk;

  GASMETER_NOINLINE bool make_room(Bytes length) {
    const Bytes rest = memory_.bytes() - (tail_ & memory_.mask);
    const Bytes pad = length > rest ? rest : 0;
    if (tail_ + pad + length + kMargin > room_) {
      room_ = memory_.control->consumed.load(std::memory_order_acquire) + memory_.bytes();
      if (tail_ + pad + length + kMargin > room_) return false;
    }
    if (pad != 0) publish(ring::Header::pack(HandlerIndex{}, 0, ring::Kind::pad, pad), pad);
    return true;
  }

  // A record reached beyond what is zero: the word behind it must be zero before the record is seen.
  GASMETER_NOINLINE void zero_behind(std::uint64_t next) {
    zeroed_ = next;
    zero_ahead();
  }

  GASMETER_NOINLINE void zero_ahead() {
    const std::uint64_t end = ring::round_up(zeroed_ + 1, ring::kZeroChunk);
    std::memset(memory_.at(zeroed_), 0, end - zeroed_);
    zeroed_ = end;
  }

  ring::Memory memory_;
  std::uint64_t tail_ = 0;
  std::uint64_t room_ = 0;    // the tail may advance to here: last seen consumed + ring size
  std::uint64_t zeroed_ = 0;  // everything from the tail up to here is zero (the first lap starts zeroed)
};

// The receiving end; private to one rank.
class RingReceiver {
 public:
  RingReceiver() = default;
  explicit RingReceiver(ring::Memory memory) : memory_(memory) {}

  // The header word of the oldest unread record; 0: nothing there.
  [[nodiscard]] GASMETER_INLINE std::uint64_t peek() const {
    return memory_.word(head_).load(std::memory_order_acquire);
  }
  [[nodiscard]] GASMETER_INLINE std::byte* record() const { return memory_.at(head_); }

  GASMETER_INLINE void pop(Bytes length) {
    head_ += length;
    if (GASMETER_UNLIKELY(head_ - announced_ >= memory_.bytes() / 4)) {
      announced_ = head_;
      memory_.control->consumed.store(head_, std::memory_order_release);
    }
  }

  [[nodiscard]] std::uint64_t position() const { return head_; }

 private:
  ring::Memory memory_;
  std::uint64_t head_ = 0;
  std::uint64_t announced_ = 0;
};

}  // namespace gasmeter::core

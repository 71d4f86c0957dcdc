// A ring of variable-length messages from one rank to another, through memory that both map.
//
// A record starts with an 8-byte header word that is never zero. The receiver waits for the word to become non-zero.
// Header and arguments of a short message therefore travel in one cache line, and no other line moves. The sender
// keeps the word behind its newest record zero ("zero ahead"), in chunks, after publishing, off the critical path. The
// receiver reports how far it has read once per quarter of the ring.
//
//   record:  header 8 | [Long: destination 8] | arguments 4 each | pad to 8 | Medium: pad to 16, payload, pad to 8
//
// docs/notes/rings.md has alternatives that were measured.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/capabilities.hpp"

namespace gasmeter::core {

namespace ring {

inline constexpr Bytes kGranule = 8;            // alignment of begin and end of every record
inline constexpr Bytes kPayloadAlignment = 16;  // Medium payload is aligned for any type
inline constexpr Bytes kZeroChunk = 512;
inline constexpr Bytes kControlBytes = kNoSharing;

constexpr Bytes round_up(Bytes n, Bytes granule) {
  return (n + granule - 1) & ~(granule - 1);
}

// Return the size of a ring's memory: a control line, then `bytes` of records (a power of two).
constexpr Bytes footprint(Bytes bytes) {
  return kControlBytes + bytes;
}

// Header word: bits 0-7 handler, 8-12 arguments, 13-14 kind, 15 always one, 16-31 length of the record in granules,
// 32-63 payload bytes. publish() sets the length.
enum class Kind : std::uint8_t { pad, short_message, medium, long_message };

struct Header {
  HandlerIndex handler{};
  std::uint8_t arguments = 0;
  Kind kind = Kind::pad;
  Bytes length = 0;
  std::uint32_t size = 0;

  [[nodiscard]] static constexpr std::uint64_t pack(HandlerIndex handler, unsigned arguments, Kind kind, Bytes size) {
    return (static_cast<std::uint64_t>(size) << 32) | (std::uint64_t{1} << 15) |
           (static_cast<std::uint64_t>(kind) << 13) | (static_cast<std::uint64_t>(arguments) << 8) | index(handler);
  }
  [[nodiscard]] static constexpr std::uint64_t with_length(std::uint64_t word, Bytes length) {
    return word | (static_cast<std::uint64_t>(length / kGranule) << 16);
  }
  [[nodiscard]] static constexpr Kind kind_of(std::uint64_t word) { return static_cast<Kind>((word >> 13) & 3U); }
  [[nodiscard]] static constexpr Bytes length_of(std::uint64_t word) { return ((word >> 16) & 0xffffU) * kGranule; }
  [[nodiscard]] static constexpr std::uint8_t arguments_of(std::uint64_t word) {
    return static_cast<std::uint8_t>((word >> 8) & 0x1fU);
  }
  [[nodiscard]] static constexpr HandlerIndex handler_of(std::uint64_t word) {
    return static_cast<HandlerIndex>(word & 0xffU);
  }
  // Tell by one comparison whether the record is the shortest one, a Short without arguments.
  [[nodiscard]] static constexpr bool is_bare(std::uint64_t word) {
    return (word & 0xffffe000U) ==
           (with_length(pack(HandlerIndex{}, 0, Kind::short_message, 0), kGranule) & 0xffffe000U);
  }
  [[nodiscard]] static constexpr Header unpack(std::uint64_t word) {
    return {handler_of(word), arguments_of(word), kind_of(word), length_of(word),
            static_cast<std::uint32_t>(word >> 32)};
  }
};

// Largest ring, since the length field has 16 bits.
inline constexpr Bytes kLargestRing = Bytes{0x10000} * kGranule / 2;

// Return the bytes of header, destination and arguments.
constexpr Bytes prefix(Kind kind, unsigned arguments) {
  return round_up((kind == Kind::long_message ? 16U : 8U) + Bytes{4} * arguments, kGranule);
}

// Return the most bytes that a record can take, wherever it starts.
constexpr Bytes record(Kind kind, unsigned arguments, Bytes payload) {
  return prefix(kind, arguments) +
         (kind == Kind::medium ? kPayloadAlignment - kGranule + round_up(payload, kGranule) : 0);
}

// Longest record of a Short or Long.
inline constexpr Bytes kLongestSmallRecord = prefix(Kind::long_message, conduit::kMaxArguments);

// Return where the Medium payload of the record at `record` starts. Both ends compute the same place, since rings are
// aligned.
inline std::byte* payload_of(std::byte* record, unsigned arguments) {
  const auto end = reinterpret_cast<std::uintptr_t>(record) + prefix(Kind::medium, arguments);
  return record + (round_up(end, kPayloadAlignment) - reinterpret_cast<std::uintptr_t>(record));
}

// Zeroing reaches at most two chunks beyond the newest record. It must not reach records that the receiver has not
// read.
inline constexpr Bytes kMargin = 2 * kZeroChunk;

// Return the longest record allowed. The receiver of an empty ring has announced at least three quarters of it. A
// record needs room for itself and for padding that is shorter than itself.
constexpr Bytes longest_record(Bytes bytes) {
  return (bytes - bytes / 4 - kMargin) / 2 & ~(kGranule - 1);
}
// Return the largest Medium payload that a ring takes with `arguments` arguments.
constexpr Bytes largest_payload(Bytes bytes, unsigned arguments = conduit::kMaxArguments) {
  return longest_record(bytes) - record(Kind::medium, arguments, 0);
}

struct Control {
  alignas(kNoSharing) std::atomic<std::uint64_t> consumed;  // position up to which the receiver has read
};
static_assert(sizeof(Control) == kControlBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Memory of a ring. A position in the ring is a count of bytes since the start and never wraps.
struct Memory {
  Control* control = nullptr;
  std::byte* data = nullptr;
  std::uint64_t mask = 0;

  Memory() = default;
  // `at` is zeroed memory of footprint(bytes), aligned to kNoSharing.
  Memory(std::byte* at, Bytes bytes)
      : control(reinterpret_cast<Control*>(at)), data(at + kControlBytes), mask(bytes - 1) {}

  [[nodiscard]] Bytes bytes() const { return mask + 1; }
  [[nodiscard]] GASMETER_INLINE std::byte* at(std::uint64_t position) const { return data + (position & mask); }
  [[nodiscard]] GASMETER_INLINE std::atomic_ref<std::uint64_t> word(std::uint64_t position) const {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at(position)));
  }
};

}  // namespace ring

// Sending end of a ring; private to one rank (with threads: behind a lock).
class RingSender {
 public:
  RingSender() = default;
  explicit RingSender(ring::Memory memory)
      : memory_(memory), limit_(memory.bytes() - kMargin), zeroed_(memory.bytes()) {}

  // Return contiguous room for a record of `length` bytes; null: there is no room now. Nothing is published. Without a
  // publish() the room simply stays free.
  [[nodiscard]] GASMETER_INLINE std::byte* reserve(Bytes length) {
    if (GASMETER_UNLIKELY(tail_ + length > limit_) && !make_room(length)) return nullptr;
    return memory_.at(tail_);
  }

  // Make the record of the last reserve() visible. `length` may be less than was reserved.
  GASMETER_INLINE void publish(std::uint64_t header, Bytes length) {
    const std::uint64_t next = tail_ + length;
    if (GASMETER_UNLIKELY(next >= zeroed_)) zero_behind(next);
    store(header, next);
  }

  // Publish a record that ends within the zeroed part.
  GASMETER_INLINE void publish_small(std::uint64_t header, Bytes length) { store(header, tail_ + length); }

  // Publish a record if up to `written` bytes of the last reserve() may have been written, more than are published.
  // Memory behind the record is then not known to be zero.
  GASMETER_NOINLINE void publish_part(std::uint64_t header, Bytes length, Bytes written) {
    forget_zeros(length, written);
    publish(header, length);
  }
  // Give up the last reserve() instead of publishing. Bytes between `prefix` and `written` behind the tail may have
  // been written.
  GASMETER_NOINLINE void take_back(Bytes prefix, Bytes written) {
    forget_zeros(prefix, written);
    while (zeroed_ < tail_ + kAlwaysZero) zero_ahead();
  }

  // Return the bytes of all records so far, with headers and padding.
  [[nodiscard]] std::uint64_t position() const { return tail_; }
  // Return how often there was no room.
  [[nodiscard]] std::uint64_t stalls() const { return stalls_; }

 private:
  static constexpr Bytes kMargin = ring::kMargin;
  static constexpr Bytes kAlwaysZero = ring::kZeroChunk / 2;  // at least this much is zero behind the newest record
  static_assert(ring::kLongestSmallRecord < kAlwaysZero);

  GASMETER_INLINE void store(std::uint64_t header, std::uint64_t next) {
    memory_.word(tail_).store(ring::Header::with_length(header, next - tail_), std::memory_order_release);
    tail_ = next;
    if (GASMETER_UNLIKELY(next + kAlwaysZero > zeroed_)) zero_ahead();
  }

  GASMETER_NOINLINE bool make_room(Bytes length) {
    const Bytes bytes = memory_.bytes();
    const Bytes rest = bytes - (tail_ & (bytes - 1));
    const Bytes pad = length > rest ? rest : 0;
    const std::uint64_t room = memory_.control->consumed.load(std::memory_order_acquire) + bytes - kMargin;
    if (tail_ + pad + length > room) {
      ++stalls_;
      return false;
    }
    if (pad != 0) publish(ring::Header::pack(HandlerIndex{}, 0, ring::Kind::pad, 0), pad);
    // The fast path needs one comparison: the limit is the room that the receiver has freed, or the end of this lap.
    const std::uint64_t end_of_lap = (tail_ & ~(bytes - 1)) + bytes;
    limit_ = room < end_of_lap ? room : end_of_lap;
    return true;
  }

  void forget_zeros(Bytes from, Bytes to) {
    if (from < to && zeroed_ > tail_ + from) zeroed_ = tail_ + from;
  }

  // Zero the word behind a record that ends beyond the zeroed part, before the record becomes visible.
  GASMETER_NOINLINE void zero_behind(std::uint64_t next) {
    zeroed_ = next;
    zero_ahead();
  }

  GASMETER_NOINLINE void zero_ahead() {
    const std::uint64_t end = ring::round_up(zeroed_ + 1, ring::kZeroChunk);
    if (GASMETER_LIKELY(end - zeroed_ == ring::kZeroChunk)) {
      std::memset(memory_.at(zeroed_), 0, ring::kZeroChunk);  // constant size: a few stores
    } else {
      std::memset(memory_.at(zeroed_), 0, end - zeroed_);
    }
    zeroed_ = end;
  }

  ring::Memory memory_;
  std::uint64_t tail_ = 0;
  std::uint64_t limit_ = 0;   // a record up to here needs no check of room
  std::uint64_t zeroed_ = 0;  // all bytes from the tail up to here are zero (the first lap starts zeroed)
  std::uint64_t stalls_ = 0;
};

// Receiving end of a ring; private to one rank.
class RingReceiver {
 public:
  RingReceiver() = default;
  explicit RingReceiver(ring::Memory memory) : memory_(memory), next_(memory.at(0)), announce_at_(memory.bytes() / 4) {}

  // Return the header word of the oldest unread record; 0: there is none.
  [[nodiscard]] GASMETER_INLINE std::uint64_t peek() const {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(next_)).load(std::memory_order_acquire);
  }
  [[nodiscard]] GASMETER_INLINE std::byte* record() const { return next_; }

  // Step to the next record. The one before stays intact until announce().
  GASMETER_INLINE void advance(Bytes length) {
    head_ += length;
    next_ = memory_.at(head_);
  }
  // Announcements tell the sender which records it may overwrite, once per quarter of the ring.
  [[nodiscard]] GASMETER_INLINE bool owes_announcement() const { return head_ >= announce_at_; }
  GASMETER_INLINE void announce() {
    if (GASMETER_UNLIKELY(owes_announcement())) {
      announce_at_ = head_ + memory_.bytes() / 4;
      memory_.control->consumed.store(head_, std::memory_order_release);
    }
  }

  [[nodiscard]] std::uint64_t position() const { return head_; }
  // Number of messages read, as the reader counts them.
  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  void count(std::uint64_t messages) { messages_ += messages; }

 private:
  ring::Memory memory_;
  std::byte* next_ = nullptr;  // address of the word at head_
  std::uint64_t head_ = 0;
  std::uint64_t announce_at_ = 0;  // position of the next announcement
  std::uint64_t messages_ = 0;
};

}  // namespace gasmeter::core

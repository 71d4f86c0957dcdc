// Datagrams from one rank to one peer that are not acknowledged: sequence numbers, retransmission, round-trip time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gasmeter/base/byte_pool.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/networks/udp/wire.hpp"

namespace gasmeter::networks::udp {

using conduit::OperationId;

// Transfer in fragments straight from its source, because it is larger than a datagram or not worth a copy.
struct Transfer {
  Fragment head;
  std::array<std::int32_t, conduit::kMaxArguments> arguments{};
  const std::byte* from = nullptr;
  BytePool::Memory copy;             // copy of a message, whose source may change
  std::uint32_t sent = 0;            // bytes that are in datagrams
  std::uint32_t unacknowledged = 0;  // fragments
  OperationId root = conduit::kNoOperation;
  OperationId local = conduit::kNoOperation;
  std::uint32_t credit = 0;  // credit of a request, from prepare to commit

  [[nodiscard]] bool all_sent() const { return sent == head.total; }
};

// Datagram with a sequence number.
struct alignas(kCacheLine) Slot {
  std::byte* records = nullptr;        // buffer of the pool; null for a fragment
  const std::byte* payload = nullptr;  // payload of a fragment
  Transfer* transfer = nullptr;
  std::uint32_t head_bytes = 0;  // length of `records` or `head`
  std::uint32_t payload_bytes = 0;
  bool acknowledged = false;
  SimTime sent;
  std::vector<OperationId> operations;  // complete when this datagram is acknowledged
  alignas(8) std::array<std::byte, kFragmentPayloadAt + 4 * conduit::kMaxArguments> head{};  // head of a fragment

  [[nodiscard]] std::byte* start() { return records != nullptr ? records : head.data(); }
  [[nodiscard]] std::uint32_t bytes() const { return head_bytes + payload_bytes; }
};

// Round-trip time and retransmission timer by RFC 6298, with its smoothing constants.
class RoundTrip {
 public:
  void sample(SimTime measured);
  void back_off();
  // Reset the backed-off timer: an acknowledgement shows that the path works.
  void recover();
  [[nodiscard]] SimTime timeout() const { return timeout_; }
  [[nodiscard]] SimTime smoothed() const { return smoothed_; }

  // A peer that computes or waits for a core does not poll. A shorter timer would send everything twice.
  static constexpr SimTime kLeastTimeout{500'000'000};       // 500 us
  static constexpr SimTime kMostTimeout{1'000'000'000'000};  // 1 s

 private:
  SimTime smoothed_;
  SimTime deviation_;
  SimTime timeout_{10'000'000'000};  // 10 ms before the first sample
};

class SendWindow {
 public:
  static constexpr std::uint64_t kSlots = 256;  // datagrams that may be outstanding or queued
  static constexpr Bytes kOverhead = 768;       // receiver's memory for a waiting datagram beyond its bytes

  // `most_bytes` limits the bytes on their way to this peer, so that its buffer does not overflow.
  SendWindow(std::uint64_t first_sequence, Bytes most_bytes);

  // Bytes of the slots, with the heads of fragments.
  [[nodiscard]] static constexpr Bytes reserved_bytes() { return kSlots * sizeof(Slot); }

  [[nodiscard]] bool has_free_slot() const { return next_ - first_ < kSlots; }
  // Queue a datagram: return its slot, and its number in `sequence`.
  Slot& append(std::uint64_t& sequence);
  [[nodiscard]] Slot& slot(std::uint64_t sequence) { return slots_[sequence % kSlots]; }

  [[nodiscard]] std::uint64_t first() const { return first_; }    // oldest unacknowledged sequence
  [[nodiscard]] std::uint64_t unsent() const { return unsent_; }  // oldest unsent sequence
  [[nodiscard]] std::uint64_t next() const { return next_; }
  [[nodiscard]] bool is_idle() const { return first_ == next_; }
  [[nodiscard]] bool nothing_in_flight() const { return first_ == unsent_; }
  [[nodiscard]] bool may_send(Bytes bytes) const {
    return bytes_in_flight_ == 0 || bytes_in_flight_ + bytes + kOverhead <= window_bytes_;
  }
  void mark_sent(std::uint64_t count, SimTime now);

  // Call done(slot) for every slot that this acknowledges for the first time. Returns false if it acknowledges an
  // unsent sequence.
  template <class Done>
  bool acknowledge(std::uint64_t below, std::uint64_t selective, SimTime now, Done&& done) {
    if (below - first_ > unsent_ - first_) return false;
    const std::uint64_t before = first_;
    for (std::uint64_t sequence = first_; sequence != below; ++sequence) take(sequence, now, done);
    first_ = below;
    for (; selective != 0; selective &= selective - 1) {
      const std::uint64_t sequence = below + 1 + static_cast<std::uint64_t>(__builtin_ctzll(selective));
      if (sequence - first_ >= unsent_ - first_) return false;
      take(sequence, now, done);
      if (sequence + 1 - first_ > highest_ - first_ || highest_ - first_ > kSlots) highest_ = sequence + 1;
    }
    while (first_ != unsent_ && slot(first_).acknowledged) ++first_;
    if (first_ != before) progress(now);
    return true;
  }

  // Collect the sequences to send again now: those that later ones have overtaken, and the oldest ones if the timer
  // has run out.
  void collect_lost(SimTime now, std::vector<std::uint64_t>& lost);
  void mark_resent(std::uint64_t sequence, SimTime now);
  [[nodiscard]] SimTime deadline() const { return nothing_in_flight() ? kNever : timer_; }
  // Time since which the peer owes a sign of life; kNever if it owes none.
  [[nodiscard]] SimTime silent_since() const { return nothing_in_flight() ? kNever : heard_; }
  [[nodiscard]] const RoundTrip& round_trip() const { return round_trip_; }

 private:
  // Datagrams that may overtake another before it counts as lost (RFC 5681).
  static constexpr std::uint64_t kReordering = 3;

  template <class Done>
  void take(std::uint64_t sequence, SimTime now, Done&& done) {
    Slot& s = slot(sequence);
    if (s.acknowledged) return;
    s.acknowledged = true;
    // An acknowledgement does not tell which copy of a resent datagram it answers (Karn). A datagram under way
    // during a retransmission may have been acknowledged earlier, in a lost datagram. So samples come only from
    // datagrams that left after every retransmission.
    if (s.sent > resent_) round_trip_.sample(now - s.sent);
    bytes_in_flight_ -= s.bytes() + kOverhead;
    if (window_bytes_ < most_bytes_)
      window_bytes_ = window_bytes_ + s.bytes() < most_bytes_ ? window_bytes_ + s.bytes() : most_bytes_;
    heard_ = now;
    done(s);
  }
  void progress(SimTime now);

  std::unique_ptr<Slot[]> slots_;
  std::uint64_t first_;
  std::uint64_t unsent_;
  std::uint64_t next_;
  std::uint64_t highest_;  // sequence behind the newest that was acknowledged selectively
  Bytes most_bytes_;
  Bytes window_bytes_;  // shrinks when timers run out
  Bytes bytes_in_flight_ = 0;
  SimTime timer_ = kNever;
  SimTime heard_;
  SimTime resent_{-1};  // time of the last retransmission
  RoundTrip round_trip_;
};

}  // namespace gasmeter::networks::udp

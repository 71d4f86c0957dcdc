// Shared memory without a library, the lower bound for smp: shares of one block, cache lines for signals, and a
// single-producer ring.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::shm {

// Cache line that one rank writes and another reads.
struct alignas(kNoSharing) Line {
  std::atomic<std::uint64_t> value;
};

class SharedMemory {
 public:
  static constexpr Bytes kPage = 4096;

  // `block` is zeroed memory of footprint(ranks, share_bytes) bytes that every rank maps.
  SharedMemory(std::byte* block, Rank self, std::uint32_t ranks, Bytes share_bytes, WaitMode mode)
      : block_(block), self_(self), ranks_(ranks), share_bytes_(round_up(share_bytes)), host_(mode) {}

  [[nodiscard]] static Bytes footprint(std::uint32_t ranks, Bytes share_bytes) {
    return lines_bytes(ranks) + Bytes{ranks} * round_up(share_bytes);
  }

  [[nodiscard]] Rank rank() const { return self_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] RealHost& host() { return host_; }
  // Return a rank's share of the block, page aligned.
  [[nodiscard]] std::byte* share(std::uint32_t rank) const {
    return block_ + lines_bytes(ranks_) + Bytes{rank} * share_bytes_;
  }
  [[nodiscard]] Bytes share_bytes() const { return share_bytes_; }
  // Return the line that `rank` writes and others read.
  [[nodiscard]] std::atomic<std::uint64_t>& line(std::uint32_t rank) const { return lines()[ranks_ + rank].value; }

  // Wait until every rank has arrived. Each rank writes a counter that all others read. For set-up and the ends of a
  // block.
  void barrier() {
    const std::uint64_t epoch = lines()[index(self_)].value.load(std::memory_order_relaxed) + 1;
    lines()[index(self_)].value.store(epoch, std::memory_order_release);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      wait_until([&] { return lines()[rank].value.load(std::memory_order_acquire) >= epoch; });
    }
  }

  template <class Done>
  GASMETER_INLINE void wait_until(Done&& done) {
    while (!done()) host_.idle(kNever);
  }

 private:
  [[nodiscard]] static Bytes round_up(Bytes bytes) { return (bytes + kPage - 1) & ~(kPage - 1); }
  [[nodiscard]] static Bytes lines_bytes(std::uint32_t ranks) { return round_up(Bytes{2} * ranks * sizeof(Line)); }
  [[nodiscard]] Line* lines() const { return reinterpret_cast<Line*>(block_); }

  std::byte* block_;
  Rank self_;
  std::uint32_t ranks_;
  Bytes share_bytes_;
  RealHost host_;
};

// Ring of eight-byte words from one writer to one reader, as fast as the memory carries them. A word's value shows that
// it is new, so no word is cleared. The reader reports its progress once per quarter of the ring.
class WordRing {
 public:
  static constexpr std::uint64_t kWords = 1U << 14;

  static constexpr Bytes footprint() { return kNoSharing + kWords * 8; }
  explicit WordRing(std::byte* at)
      : consumed_(*reinterpret_cast<std::atomic<std::uint64_t>*>(at)),
        words_(reinterpret_cast<std::atomic<std::uint64_t>*>(at + kNoSharing)) {}

  // Values must increase from 1 by one. Returns false if the ring is full.
  [[nodiscard]] GASMETER_INLINE bool push(std::uint64_t value) {
    if (GASMETER_UNLIKELY(value > room_)) {
      room_ = consumed_.load(std::memory_order_acquire) + kWords;
      if (value > room_) return false;
    }
    words_[value & (kWords - 1)].store(value, std::memory_order_release);
    return true;
  }
  // Return true if the next value has arrived. It must be `value`.
  [[nodiscard]] GASMETER_INLINE bool pop(std::uint64_t value) {
    if (words_[value & (kWords - 1)].load(std::memory_order_acquire) != value) return false;
    if (GASMETER_UNLIKELY((value & (kWords / 4 - 1)) == 0)) consumed_.store(value, std::memory_order_release);
    return true;
  }

 private:
  std::atomic<std::uint64_t>& consumed_;
  std::atomic<std::uint64_t>* words_;
  std::uint64_t room_ = kWords;
};

}  // namespace gasmeter::networks::shm

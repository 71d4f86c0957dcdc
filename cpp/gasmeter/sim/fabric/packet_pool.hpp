// Packets of one type, reused: after a while nothing is allocated any more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "gasmeter/base/platform.hpp"

namespace gasmeter::sim {

// Each partition of an engine has a list of its own, so that threads do not meet. In some partitions more packets end
// than begin: such a list gives some away for the lists that only shrink.
template <class T>
class PacketPool {
 public:
  // Returns memory that a partition's stacks have left over; empty: no more. The memory outlives the pool.
  using Rooms = std::function<std::span<std::byte>(unsigned partition)>;

  // Makes packets in `rooms`, where given, and in memory of its own.
  explicit PacketPool(unsigned partitions, Rooms rooms = nullptr) : lists_(partitions), rooms_(std::move(rooms)) {}
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;
  ~PacketPool() {
    for (const Slab& slab : slabs_) std::destroy_n(slab.packets, slab.count);
  }

  // Take a packet. It holds the contents of its last use, except for a null link and route; the caller fills it in.
  [[nodiscard]] T* take(unsigned partition) {
    List& list = lists_[partition];
    if (GASMETER_UNLIKELY(list.first == nullptr)) refill(list, partition);
    T* const packet = list.first;
    list.first = static_cast<T*>(packet->next);
    --list.count;
    return packet;
  }
  void give(unsigned partition, T* packet) {
    List& list = lists_[partition];
    packet->next = list.first;
    list.first = packet;
    if (GASMETER_UNLIKELY(++list.count >= 2 * kShare) && lists_.size() > 1) give_away(list);
  }
  [[nodiscard]] std::size_t made() const { return made_; }

 private:
  static constexpr std::size_t kShare = 1024;
  static constexpr std::size_t kSlabBytes = 64 * 1024;

  struct alignas(kNoSharing) List {
    T* first = nullptr;
    std::size_t count = 0;
  };
  struct Slab {
    T* packets;
    std::size_t count;
  };

  GASMETER_NOINLINE void refill(List& list, unsigned partition) {
    const std::lock_guard guard(mutex_);
    if (!shared_.empty()) {
      list = shared_.back();
      shared_.pop_back();
      return;
    }
    if (rooms_) {
      const std::span<std::byte> room = rooms_(partition);
      make(list, room.data(), room.size());
      if (list.first != nullptr) return;
    }
    // Begin small: 65536 ranks are possible, and so are two.
    const std::size_t count = std::max<std::size_t>(1, std::min(kSlabBytes / sizeof(T), made_ / 2 + 4));
    const std::size_t bytes = count * sizeof(T) + kCacheLine;
    memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    make(list, memory_.back().get(), bytes, count);
  }

  // Make up to `most` packets from a cache line on, as many as there is room for.
  void make(List& list, void* start, std::size_t space, std::size_t most = kSlabBytes) {
    if (std::align(kCacheLine, sizeof(T), start, space) == nullptr) return;
    const Slab slab{static_cast<T*>(start), std::min(space / sizeof(T), most)};
    for (std::size_t i = 0; i < slab.count; ++i) {
      T* const packet = ::new (static_cast<void*>(slab.packets + i)) T;
      packet->next = list.first;
      list.first = packet;
    }
    list.count += slab.count;
    made_ += slab.count;
    if constexpr (!std::is_trivially_destructible_v<T>) slabs_.push_back(slab);
  }

  GASMETER_NOINLINE void give_away(List& list) {
    List share;
    share.first = list.first;
    T* last = list.first;
    for (std::size_t i = 1; i < kShare; ++i) last = static_cast<T*>(last->next);
    list.first = static_cast<T*>(last->next);
    last->next = nullptr;
    share.count = kShare;
    list.count -= kShare;
    const std::lock_guard guard(mutex_);
    shared_.push_back(share);
  }

  std::vector<List> lists_;
  std::mutex mutex_;
  std::vector<List> shared_;
  Rooms rooms_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<Slab> slabs_;  // packets to destroy
  std::size_t made_ = 0;
};

}  // namespace gasmeter::sim

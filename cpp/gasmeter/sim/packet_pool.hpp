// Packets of one type, reused: after a while nothing is allocated any more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "gasmeter/base/platform.hpp"

namespace gasmeter::sim {

// Each partition of an engine has a list of its own, so that threads do not meet; a list that only grows, since more
// packets end in its partition than begin there, gives some away for those that only shrink.
template <class T>
class PacketPool {
 public:
  explicit PacketPool(unsigned partitions) : lists_(partitions) {}
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;
  ~PacketPool() {
    for (const Slab& slab : slabs_) std::destroy_n(slab.packets, slab.count);
  }

  // Contents are those of its last use; null links and route apart, the caller fills it in.
  [[nodiscard]] T* take(unsigned partition) {
    List& list = lists_[partition];
    if (GASMETER_UNLIKELY(list.first == nullptr)) refill(list);
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
    std::unique_ptr<std::byte[]> memory;
    T* packets;
    std::size_t count;
  };

  void refill(List& list) {
    const std::lock_guard guard(mutex_);
    if (!shared_.empty()) {
      list = shared_.back();
      shared_.pop_back();
      return;
    }
    // Small at first: 65536 ranks are possible, and so are two.
    const std::size_t count = std::max<std::size_t>(1, std::min(kSlabBytes / sizeof(T), made_ / 2 + 4));
    Slab slab{std::make_unique_for_overwrite<std::byte[]>(count * sizeof(T) + kCacheLine), nullptr, count};
    void* start = slab.memory.get();
    std::size_t space = count * sizeof(T) + kCacheLine;
    slab.packets = static_cast<T*>(std::align(kCacheLine, count * sizeof(T), start, space));
    for (std::size_t i = 0; i < count; ++i) {
      T* const packet = ::new (static_cast<void*>(slab.packets + i)) T;
      packet->next = list.first;
      list.first = packet;
    }
    list.count += count;
    made_ += count;
    slabs_.push_back(std::move(slab));
  }

  void give_away(List& list) {
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
  std::vector<Slab> slabs_;
  std::size_t made_ = 0;
};

}  // namespace gasmeter::sim

// Which remote address a shared object has on which node: what a rank has learnt from answers, up to so many entries.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/random.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/pgas/options.hpp"

namespace gasmeter::pgas {

class AddressCache {
 public:
  struct Key {
    std::uint64_t object = 0;  // Handle::bits()
    std::uint32_t node = 0;
    std::uint32_t chunk = 0;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    Bytes base = 0;  // where a part lies in the segment of its rank, alike for all ranks of the node
    Bytes part = 0;  // its bytes

    [[nodiscard]] GASMETER_INLINE bool holds(Bytes offset, Bytes bytes) const {
      return offset <= part && bytes <= part - offset;
    }
  };

  // Grows on demand. `seed`: of random replacement.
  AddressCache(std::uint32_t capacity, Replacement replacement, std::uint64_t seed)
      : capacity_(capacity),
        replacement_(replacement),
        keeps_order_(replacement == Replacement::lru && capacity != kUnlimited),
        random_(seed) {}

  // Null: not there. With `lru` and a limit it is the most recent one from now on. Valid until the next insert() or
  // erase.
  [[nodiscard]] GASMETER_INLINE const Entry* find(const Key& key) {
    if (GASMETER_UNLIKELY(buckets_.empty())) return nullptr;
    for (std::uint32_t at = buckets_[bucket_of(key)]; at != kEnd; at = nodes_[at].chain) {
      if (GASMETER_LIKELY(nodes_[at].entry.key == key)) {
        if (keeps_order_ && at != newest_) make_newest(at);
        return &nodes_[at].entry;
      }
    }
    return nullptr;
  }
  // Puts it in place of what the key had. Returns whether another one had to go for it.
  bool insert(const Entry& entry);
  // All of an object. Returns how many there were.
  std::uint32_t erase(std::uint64_t object);

  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }
  // Calls each(entry), the most recent one first; without a limit the one that came last.
  template <class Each>
  void for_each(Each each) const {
    for (std::uint32_t at = newest_; at != kEnd; at = nodes_[at].older) each(nodes_[at].entry);
  }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffffU;
  struct Node {
    Entry entry;
    std::uint32_t chain = kEnd;  // the next one in its bucket, or the next free one
    std::uint32_t newer = kEnd;
    std::uint32_t older = kEnd;
  };

  [[nodiscard]] GASMETER_INLINE std::size_t bucket_of(const Key& key) const {
    const std::uint64_t mixed = (key.object ^ (std::uint64_t{key.node} << 20) ^ (std::uint64_t{key.chunk} << 44)) *
                                kGoldenGamma;  // whose high bits depend on all of them
    return static_cast<std::size_t>(mixed >> shift_);
  }
  void grow();
  void make_newest(std::uint32_t at);
  void unlink(std::uint32_t at);
  void link_newest(std::uint32_t at);
  void remove(std::uint32_t at);
  [[nodiscard]] std::uint32_t victim();

  std::uint32_t capacity_;
  Replacement replacement_;
  bool keeps_order_;  // of use: where none ever goes it is nobody's
  unsigned shift_ = 63;
  std::vector<std::uint32_t> buckets_;  // a power of two, at least as many as there are nodes
  std::vector<Node> nodes_;
  std::uint32_t size_ = 0;
  std::uint32_t free_ = kEnd;
  std::uint32_t newest_ = kEnd;
  std::uint32_t oldest_ = kEnd;
  std::uint64_t random_;
};

}  // namespace gasmeter::pgas

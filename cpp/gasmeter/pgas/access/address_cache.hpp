// Cache of remote addresses: the address of a shared object on each node, learnt from answers, with a limit of
// entries.
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
    Bytes base = 0;  // offset of the part in its rank's segment, the same for all ranks of the node
    Bytes part = 0;  // bytes of the part

    [[nodiscard]] GASMETER_INLINE bool holds(Bytes offset, Bytes bytes) const {
      return offset <= part && bytes <= part - offset;
    }
  };

  // The cache grows on demand. `seed` is the seed of random replacement.
  AddressCache(std::uint32_t capacity, Replacement replacement, std::uint64_t seed)
      : capacity_(capacity),
        replacement_(replacement),
        keeps_order_(replacement == Replacement::lru && capacity != kUnlimited),
        random_(seed) {}

  // Return the entry, or null. With `lru` and a limit it becomes the most recent. It is valid until the next insert()
  // or erase().
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
  // Insert the entry, or replace the key's entry. Return whether another entry was evicted.
  bool insert(const Entry& entry);
  // Remove all entries of an object; return their number.
  std::uint32_t erase(std::uint64_t object);

  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }
  // Call each(entry), from the most recently used entry on; without a limit, from the latest inserted.
  template <class Each>
  void for_each(Each each) const {
    for (std::uint32_t at = newest_; at != kEnd; at = nodes_[at].older) each(nodes_[at].entry);
  }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffffU;
  struct Node {
    Entry entry;
    std::uint32_t chain = kEnd;  // next node in the bucket, or next free node
    std::uint32_t newer = kEnd;
    std::uint32_t older = kEnd;
  };

  [[nodiscard]] GASMETER_INLINE std::size_t bucket_of(const Key& key) const {
    const std::uint64_t mixed = (key.object ^ (std::uint64_t{key.node} << 20) ^ (std::uint64_t{key.chunk} << 44)) *
                                kGoldenGamma;  // the high bits depend on all three fields
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
  bool keeps_order_;  // tracks the order of use; needed only if entries are evicted
  unsigned shift_ = 63;
  std::vector<std::uint32_t> buckets_;  // a power of two, at least the number of nodes
  std::vector<Node> nodes_;
  std::uint32_t size_ = 0;
  std::uint32_t free_ = kEnd;
  std::uint32_t newest_ = kEnd;
  std::uint32_t oldest_ = kEnd;
  std::uint64_t random_;
};

}  // namespace gasmeter::pgas

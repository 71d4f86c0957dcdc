// Where memory lies on a modelled machine: what pages it has must not depend on this computer's allocator.
//
// Of memory a model sees uses, [address, address + bytes), and no objects. A use that meets no earlier one is the first
// of an object: the object gets the next address of the model, and this use begins at a page. A use that overlaps
// earlier ones is of the same object, since two objects never overlap: it lies where they say. One that joins several
// lies where the earliest does; what the others had is void. Uses that only meet at their ends are of two objects,
// since an allocator may put any two side by side. Addresses hence follow from which part of which object is used in
// what order, and from nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::services {

// Of one rank. Objects are smaller than half a TiB.
class ModelledAddresses {
 public:
  static constexpr std::uint64_t kSegment = std::uint64_t{1} << 40U;
  static constexpr std::uint64_t kObjects = kSegment << 1U;  // the first one's; the next ones' a TiB behind each other

  // The rank's segment: always at kSegment. Once, and before it is used.
  void place_segment(std::span<const std::byte> segment);
  [[nodiscard]] bool is_segment(const void* memory, Bytes bytes) const;

  // Of the first of `bytes` bytes, 1 or more. Throws UsageError for none.
  [[nodiscard]] std::uint64_t at(const void* memory, Bytes bytes);

  struct Range {
    std::uint64_t address;
    Bytes bytes;
    constexpr bool operator==(const Range&) const = default;
  };
  // The memory has been freed: what lies there next is another object. Returns where what has been used of the old ones
  // lay, in the order of addresses.
  std::vector<Range> forget(std::span<const std::byte> memory);

  [[nodiscard]] std::size_t objects() const { return objects_.size(); }

 private:
  // What has been used of an object, by its first byte.
  struct Object {
    std::uintptr_t end;
    std::uint64_t address;  // of the first byte
    std::uint64_t order;    // of its first use
  };
  using Objects = std::map<std::uintptr_t, Object>;

  [[nodiscard]] Objects::iterator first_behind(std::uintptr_t address);

  Objects objects_;
  std::uintptr_t segment_ = 0;
  Bytes segment_bytes_ = 0;
  std::uint64_t uses_ = 0;  // first ones
};

}  // namespace gasmeter::services

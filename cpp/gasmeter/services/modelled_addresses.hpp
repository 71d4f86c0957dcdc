// Addresses of memory on a modelled machine. The pages of memory must not depend on this computer's allocator.
//
// A model sees no objects, only uses of memory: [address, address + bytes). A use that overlaps no earlier one is the
// first of an object. The object gets the next modelled address, and the use begins a page. A use that overlaps
// earlier ones is of the same object, since two objects never overlap, and its address follows from theirs. A use that
// joins several objects follows the earliest; the addresses of the others become void. Uses that only meet at their
// ends are of two objects, since an allocator may put any two side by side.
//
// Addresses hence follow only from the order in which parts of objects are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::services {

// Modelled addresses of one rank. Objects must be smaller than half a TiB.
class ModelledAddresses {
 public:
  static constexpr std::uint64_t kSegment = std::uint64_t{1} << 40U;
  // Address of the first object. Each object lies a TiB behind the one before
  static constexpr std::uint64_t kObjects = kSegment << 1U;

  // Set the rank's segment, which always lies at kSegment. Called once, before the segment is used.
  void place_segment(std::span<const std::byte> segment);
  [[nodiscard]] bool is_segment(const void* memory, Bytes bytes) const;

  // Return the address of the first of `bytes` bytes, 1 or more. Throw UsageError for 0 bytes.
  [[nodiscard]] std::uint64_t at(const void* memory, Bytes bytes);

  struct Range {
    std::uint64_t address;
    Bytes bytes;
    constexpr bool operator==(const Range&) const = default;
  };
  // Note that the memory has been freed: new memory at its place is another object. Return the modelled ranges of the
  // old objects that were used, in the order of addresses.
  std::vector<Range> forget(std::span<const std::byte> memory);

  [[nodiscard]] std::size_t objects() const { return objects_.size(); }

 private:
  // The used part of an object, by the address of its first byte.
  struct Object {
    std::uintptr_t end;
    std::uint64_t address;  // modelled address of the first byte
    std::uint64_t order;    // number of its first use
  };
  using Objects = std::map<std::uintptr_t, Object>;

  [[nodiscard]] Objects::iterator first_behind(std::uintptr_t address);

  Objects objects_;
  std::uintptr_t segment_ = 0;
  Bytes segment_bytes_ = 0;
  std::uint64_t uses_ = 0;  // first uses so far
};

}  // namespace gasmeter::services

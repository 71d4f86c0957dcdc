// One rank's replica of the shared variable directory. Calls of this rank, collective calls and messages change it. It
// knows the addresses of parts in the memory of this rank and of its neighbours.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/pgas/directory/handle.hpp"

namespace gasmeter::pgas {

inline constexpr std::uint32_t kEveryRank = 0xffffffffU;
inline constexpr Bytes kNowhere = ~Bytes{0};

struct Object {
  Bytes part = 0;  // bytes of each owner's part
  // Offset of this rank's part in its segment, or of a neighbour's own object in the neighbour's segment
  Bytes base = kNowhere;
  std::uint32_t owner = kEveryRank;  // the only rank with a part

  [[nodiscard]] bool has_part(Rank rank) const { return owner == kEveryRank || owner == index(rank); }
  [[nodiscard]] bool holds(Bytes offset, Bytes bytes) const { return offset <= part && bytes <= part - offset; }
};

class Directory {
 public:
  explicit Directory(std::uint32_t ranks) : ranks_(ranks) {}

  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] std::uint32_t all() const { return ranks_; }  // partition of collective objects
  // Return the object; null if it was freed or never made.
  [[nodiscard]] GASMETER_INLINE const Object* find(Handle handle) const {
    const Partition* const partition = handle.partition == ranks_ ? &all_ : other(handle.partition);
    if (partition == nullptr || handle.slot() >= partition->slots.size()) return nullptr;
    const Slot& slot = partition->slots[handle.slot()];
    return slot.state == State::alive && slot.generation == handle.generation() ? &slot.object : nullptr;
  }

  // Return the handle of the next object. Only a partition's writer may call it. Throw UsageError if all slots are
  // taken.
  [[nodiscard]] Handle next(std::uint32_t partition) const;
  // Add an object. Throw UsageError if its slot is taken.
  void add(Handle handle, const Object& object);
  // Make the object unfindable; its slot stays taken. Return false if it was not there.
  [[nodiscard]] bool invalidate(Handle handle);
  // Free the slot of an invalidated object and return that object. Throw UsageError for any other.
  Object release(Handle handle);

  [[nodiscard]] std::uint64_t objects() const { return objects_; }  // number of slots taken

 private:
  enum class State : std::uint8_t { vacant, alive, invalid };
  struct Slot {
    Object object;
    std::uint32_t generation = 0;
    State state = State::vacant;
  };
  struct Partition {
    std::vector<Slot> slots;
    std::vector<std::uint32_t> vacant;  // the last is taken next
  };

  [[nodiscard]] const Partition* other(std::uint32_t partition) const {
    const auto entry = others_.find(partition);
    return entry != others_.end() ? &entry->second : nullptr;
  }
  [[nodiscard]] Partition& at(std::uint32_t partition) { return partition == ranks_ ? all_ : others_[partition]; }
  [[nodiscard]] Slot* slot_of(Handle handle);

  std::uint32_t ranks_;
  Partition all_;
  std::unordered_map<std::uint32_t, Partition> others_;  // partitions that have ever had an object
  std::uint64_t objects_ = 0;
};

}  // namespace gasmeter::pgas

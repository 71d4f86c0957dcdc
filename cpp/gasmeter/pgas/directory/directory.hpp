// One rank's replica of the shared variable directory. It changes by what this rank does itself, together with all
// others, or is told of by messages, and knows addresses of parts that lie in this rank's memory, or its neighbours'.
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
  Bytes part = 0;                    // bytes of each owner's part
  Bytes base = kNowhere;             // where this rank's part lies in its segment; of a neighbour's own object: there
  std::uint32_t owner = kEveryRank;  // who alone has a part

  [[nodiscard]] bool has_part(Rank rank) const { return owner == kEveryRank || owner == index(rank); }
  [[nodiscard]] bool holds(Bytes offset, Bytes bytes) const { return offset <= part && bytes <= part - offset; }
};

class Directory {
 public:
  explicit Directory(std::uint32_t ranks) : ranks_(ranks) {}

  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] std::uint32_t all() const { return ranks_; }  // the partition of what all make together
  // Nothing of what is not there: never made, or freed.
  [[nodiscard]] GASMETER_INLINE const Object* find(Handle handle) const {
    const Partition* const partition = handle.partition == ranks_ ? &all_ : other(handle.partition);
    if (partition == nullptr || handle.slot() >= partition->slots.size()) return nullptr;
    const Slot& slot = partition->slots[handle.slot()];
    return slot.state == State::alive && slot.generation == handle.generation() ? &slot.object : nullptr;
  }

  // By a partition's one writer: the handle of what it makes next. Throws UsageError where all slots are taken.
  [[nodiscard]] Handle next(std::uint32_t partition) const;
  // A new object. Throws UsageError where its slot is taken.
  void add(Handle handle, const Object& object);
  // It is not found any more; its slot is still taken. False: it was not there.
  [[nodiscard]] bool invalidate(Handle handle);
  // What invalidate() has left: gives the slot back. Returns what it was. Throws UsageError for anything else.
  Object release(Handle handle);

  [[nodiscard]] std::uint64_t objects() const { return objects_; }  // slots that are taken

 private:
  enum class State : std::uint8_t { vacant, alive, invalid };
  struct Slot {
    Object object;
    std::uint32_t generation = 0;
    State state = State::vacant;
  };
  struct Partition {
    std::vector<Slot> slots;
    std::vector<std::uint32_t> vacant;  // the last one is taken next
  };

  [[nodiscard]] const Partition* other(std::uint32_t partition) const {
    const auto found = others_.find(partition);
    return found != others_.end() ? &found->second : nullptr;
  }
  [[nodiscard]] Partition& at(std::uint32_t partition) { return partition == ranks_ ? all_ : others_[partition]; }
  [[nodiscard]] Slot* slot_of(Handle handle);

  std::uint32_t ranks_;
  Partition all_;
  std::unordered_map<std::uint32_t, Partition> others_;  // that have ever had an object
  std::uint64_t objects_ = 0;
};

}  // namespace gasmeter::pgas

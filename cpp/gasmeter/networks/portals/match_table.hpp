// A rank's portal table: ordered lists of match entries with their memory descriptors, and the search for an
// operation's match.
//
// The table knows no time. A walk returns its steps to the caller, who pays for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/portals/memory_descriptor.hpp"

namespace gasmeter::networks::portals {

enum class OperationKind : std::uint8_t { put, get };

// An operation that arrives at a target.
struct Operation {
  OperationKind kind{};
  std::uint32_t portal = 0;
  Rank source{};
  std::uint64_t match_bits = 0;
  Bytes remote_offset = 0;
  Bytes length = 0;
};

struct Match {
  MdHandle md;  // none: no entry takes the operation
  Bytes offset = 0;
  Bytes length = 0;         // less than requested if it was truncated
  std::uint32_t steps = 0;  // entries that were looked at
};

// Throws UsageError for an object that does not exist, or no longer exists.
class MatchTable {
 public:
  explicit MatchTable(Rank owner) : owner_(owner) {}

  // Add an entry at an end of its list: before or after all others.
  MeHandle attach(std::uint32_t portal, const MatchEntry& entry, Position position);
  // Add an entry before or after another one.
  MeHandle insert(MeHandle beside, const MatchEntry& entry, Position position);
  // Unlink an entry with its descriptor. Return false, and change nothing, if the descriptor is in use.
  [[nodiscard]] bool unlink(MeHandle entry);

  MdHandle attach(MeHandle entry, const MemoryDescriptor& descriptor, Unlink unlink);
  MdHandle bind(const MemoryDescriptor& descriptor, Unlink unlink);
  // Unlink a descriptor, and its entry if that goes with it. Return false if operations are in progress.
  [[nodiscard]] bool unlink(MdHandle md);
  // Replace a descriptor. The new one keeps the place in the list and the unlink mode. update() returns false if
  // operations are in progress.
  [[nodiscard]] bool may_update(MdHandle md) const { return at(md).under_way == 0; }
  [[nodiscard]] bool update(MdHandle md, const MemoryDescriptor& descriptor);

  // Find the first entry of the list that takes the operation. The operation then counts as in progress, and end() has
  // to follow. A descriptor that takes no more operations and unlinks itself leaves the list at once.
  [[nodiscard]] Match match(const Operation& operation);
  // Begin an operation from the descriptor. Return false if it takes no more. end() has to follow.
  [[nodiscard]] bool begin(MdHandle md);
  // Count one more operation, as an acknowledgement does. Return false if the descriptor takes no more.
  [[nodiscard]] bool count(MdHandle md);
  void end(MdHandle md);
  // Tell whether the descriptor unlinks itself and has no operation in progress. The caller then reports it and calls
  // take().
  [[nodiscard]] bool is_over(MdHandle md) const;
  void take(MdHandle md);

  [[nodiscard]] bool exists(MdHandle md) const {
    return md.place < mds_.size() && mds_[md.place].exists && mds_[md.place].generation == md.generation;
  }
  [[nodiscard]] bool exists(MeHandle entry) const {
    return entry.place < mes_.size() && mes_[entry.place].exists && mes_[entry.place].generation == entry.generation;
  }
  // none: the entry has no descriptor
  [[nodiscard]] MdHandle descriptor_of(MeHandle entry) { return at(entry).md; }
  [[nodiscard]] const MemoryDescriptor& descriptor(MdHandle md) const { return at(md).descriptor; }
  [[nodiscard]] bool unlinks(MdHandle md) const { return at(md).unlink == Unlink::unlink; }
  [[nodiscard]] Bytes local_offset(MdHandle md) const { return at(md).offset; }
  [[nodiscard]] std::size_t descriptors() const { return descriptors_; }

  struct Listed {
    std::uint32_t portal = 0;
    const MatchEntry* entry = nullptr;  // null: the descriptor is bound
    const MemoryDescriptor* descriptor = nullptr;
    Unlink unlink{};
  };
  // Call see(listed) for every descriptor: by portals, each list from its head, then those without an entry.
  template <class See>
  void for_each(See&& see) const {
    for (std::uint32_t index = 0; index < kPortals; ++index) {
      for (const Portal& portal : portals_) {
        if (portal.index != index) continue;
        for (const std::uint32_t place : portal.list) {
          const Me& me = mes_[place];
          if (exists(me.md)) see(Listed{index, &me.entry, &at(me.md).descriptor, at(me.md).unlink});
        }
      }
    }
    for (const Md& md : mds_) {
      if (md.exists && !exists(md.entry)) see(Listed{0, nullptr, &md.descriptor, md.unlink});
    }
  }

 private:
  struct Md {
    MemoryDescriptor descriptor;
    MeHandle entry;
    Unlink unlink{};
    Bytes offset = 0;             // the next operation's offset, if the offset is local
    std::uint32_t under_way = 0;  // operations in progress
    std::uint32_t generation = 0;
    bool exists = false;
    bool is_full = false;
  };
  struct Me {
    MatchEntry entry;
    MdHandle md;
    std::uint32_t portal = 0;
    std::uint32_t generation = 0;
    bool exists = false;
  };
  using List = std::vector<std::uint32_t>;  // places of entries
  struct Portal {
    std::uint32_t index;
    List list;
  };

  [[noreturn]] void refuse_md() const;
  [[nodiscard]] GASMETER_INLINE const Md& at(MdHandle md) const {
    if (GASMETER_UNLIKELY(!exists(md))) refuse_md();
    return mds_[md.place];
  }
  [[nodiscard]] GASMETER_INLINE Md& at(MdHandle md) { return const_cast<Md&>(std::as_const(*this).at(md)); }
  [[nodiscard]] Me& at(MeHandle entry);
  [[nodiscard]] List& list(std::uint32_t portal);
  MeHandle make(std::uint32_t portal, const MatchEntry& entry);
  MdHandle make(const MemoryDescriptor& descriptor, Unlink unlink);
  [[nodiscard]] static bool takes(const Md& md, const Operation& operation, Match& match);
  void count_one(Md& md);
  void leave_list(MeHandle entry);
  void detach(Md& md);
  void remove(MdHandle md);

  Rank owner_;
  std::vector<Portal> portals_;  // only those in use
  std::vector<Md> mds_;          // making one invalidates references
  std::vector<Me> mes_;
  std::vector<std::uint32_t> free_mds_;
  std::vector<std::uint32_t> free_mes_;
  std::size_t descriptors_ = 0;
};

}  // namespace gasmeter::networks::portals

// A rank's portal table: ordered lists of match entries with their memory descriptors, and what an operation finds.
//
// Knows no time: whoever walks a list is told of its steps, and pays.
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

// What comes to a target.
struct Operation {
  OperationKind kind{};
  std::uint32_t portal = 0;
  Rank source{};
  std::uint64_t match_bits = 0;
  Bytes remote_offset = 0;
  Bytes length = 0;
};

struct Match {
  MdHandle md;  // none: nothing takes it
  Bytes offset = 0;
  Bytes length = 0;         // less than asked where it was truncated
  std::uint32_t steps = 0;  // entries that were looked at
};

// Throws UsageError for what is not there, or no longer.
class MatchTable {
 public:
  explicit MatchTable(Rank owner) : owner_(owner) {}

  // At an end of the entry's list: `before` all, or `after`.
  MeHandle attach(std::uint32_t portal, const MatchEntry& entry, Position position);
  // Beside another one.
  MeHandle insert(MeHandle beside, const MatchEntry& entry, Position position);
  // With its descriptor. False: that is in use, and nothing has happened.
  [[nodiscard]] bool unlink(MeHandle entry);

  MdHandle attach(MeHandle entry, const MemoryDescriptor& descriptor, Unlink unlink);
  MdHandle bind(const MemoryDescriptor& descriptor, Unlink unlink);
  // With its entry, if that goes with it. False: operations are under way.
  [[nodiscard]] bool unlink(MdHandle md);
  // In place of the old one, whose place in the list and way to end it keeps. False: operations are under way.
  [[nodiscard]] bool may_update(MdHandle md) const { return at(md).under_way == 0; }
  [[nodiscard]] bool update(MdHandle md, const MemoryDescriptor& descriptor);

  // The first entry of the list that takes it, which is then under way there: end() is to follow. A descriptor that
  // takes no more and goes by itself is out of the list at once.
  [[nodiscard]] Match match(const Operation& operation);
  // An operation begins from the descriptor; false: it takes no more. Likewise.
  [[nodiscard]] bool begin(MdHandle md);
  // One more counts, as an acknowledgement does; false: it takes no more.
  [[nodiscard]] bool count(MdHandle md);
  void end(MdHandle md);
  // Nothing of it is under way, and it ends itself: it is to be told of, and taken().
  [[nodiscard]] bool is_over(MdHandle md) const;
  void take(MdHandle md);

  [[nodiscard]] bool exists(MdHandle md) const {
    return md.place < mds_.size() && mds_[md.place].exists && mds_[md.place].generation == md.generation;
  }
  [[nodiscard]] bool exists(MeHandle entry) const {
    return entry.place < mes_.size() && mes_[entry.place].exists && mes_[entry.place].generation == entry.generation;
  }
  // None: it has none.
  [[nodiscard]] MdHandle descriptor_of(MeHandle entry) { return at(entry).md; }
  [[nodiscard]] const MemoryDescriptor& descriptor(MdHandle md) const { return at(md).descriptor; }
  [[nodiscard]] bool unlinks(MdHandle md) const { return at(md).unlink == Unlink::unlink; }
  [[nodiscard]] Bytes local_offset(MdHandle md) const { return at(md).offset; }
  [[nodiscard]] std::size_t descriptors() const { return descriptors_; }

  struct Listed {
    std::uint32_t portal = 0;
    const MatchEntry* entry = nullptr;  // none: it is bound
    const MemoryDescriptor* descriptor = nullptr;
    Unlink unlink{};
  };
  // Calls see(listed) for every descriptor: by portals, each list from its head, then those without an entry.
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
    Bytes offset = 0;             // where the next operation goes, of a local one
    std::uint32_t under_way = 0;  // operations
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
  std::vector<Portal> portals_;  // those that are used
  std::vector<Md> mds_;          // nobody keeps a reference while one is made
  std::vector<Me> mes_;
  std::vector<std::uint32_t> free_mds_;
  std::vector<std::uint32_t> free_mes_;
  std::size_t descriptors_ = 0;
};

}  // namespace gasmeter::networks::portals

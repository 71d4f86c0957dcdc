// Outstanding operations of one endpoint: events, implicit (NBI) groups and access regions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/core/event.hpp"

namespace gasmeter::core {

using conduit::OperationId;

// The kind of an operation decides which implicit group it counts for.
enum class OperationKind : std::uint8_t { put, get, am };
inline constexpr std::size_t kOperationKinds = 3;

// Implicit operations of one thread that no event names.
struct ImplicitGroup {
  std::array<std::uint64_t, kOperationKinds> issued{};
  std::array<std::uint64_t, kOperationKinds> completed{};
  std::uint32_t open_region = kNoRegion;

  static constexpr std::uint32_t kNoRegion = 0xffffffffU;

  // Local completion (EventSet::local) comes with the copy or, at the latest, with the put itself.
  [[nodiscard]] bool is_complete(EventSet set) const {
    if ((static_cast<unsigned>(set) & static_cast<unsigned>(EventSet::local)) != 0) {
      set = static_cast<EventSet>(static_cast<unsigned>(set) | static_cast<unsigned>(EventSet::put));
    }
    for (std::size_t kind = 0; kind < kOperationKinds; ++kind) {
      const bool named = ((static_cast<unsigned>(set) >> kind) & 1U) != 0;
      if (named && issued[kind] != completed[kind]) return false;
    }
    return true;
  }
};

// Slots are reused; the table grows to the largest number of operations that were ever outstanding at once.
class OperationTable {
 public:
  // A new operation made of `parts` completions. With `group` it is implicit: it completes into the group or the
  // group's open access region, and nobody waits for it by name.
  OperationId start(OperationKind kind, std::uint32_t parts, ImplicitGroup* group);
  // More or fewer completions than announced at start().
  void add_parts(OperationId id, std::uint32_t parts) { slot(id).remaining += parts; }
  // One part is complete.
  void complete(OperationId id);
  // Takes back an operation of which nothing was started.
  void withdraw(OperationId id);

  [[nodiscard]] Event event_of(OperationId id) const { return Event(static_cast<std::uint32_t>(id) + 2); }
  // True: complete, and the event is consumed.
  bool test(Event& event);

  void begin_region(ImplicitGroup& group);
  Event end_region(ImplicitGroup& group);

  // Operations neither completed nor consumed: zero when nothing leaks.
  [[nodiscard]] std::uint32_t outstanding() const { return outstanding_; }

 private:
  struct Slot {
    std::uint32_t remaining = 0;
    std::uint32_t next_free = 0;
    std::uint32_t region = ImplicitGroup::kNoRegion;
    OperationKind kind = OperationKind::put;
    bool is_region = false;
    bool is_free = true;
    ImplicitGroup* group = nullptr;
  };
  static constexpr std::uint32_t kEnd = 0xffffffffU;

  [[nodiscard]] Slot& slot(OperationId id) { return slots_[static_cast<std::uint32_t>(id)]; }
  std::uint32_t take();
  void release(std::uint32_t index);

  std::vector<Slot> slots_;
  std::uint32_t first_free_ = kEnd;
  std::uint32_t outstanding_ = 0;
};

}  // namespace gasmeter::core

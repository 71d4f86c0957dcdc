// Outstanding operations of one endpoint: events, implicit (NBI) groups and access regions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/core/event.hpp"

namespace gasmeter::core {

using conduit::OperationId;

// Kind of an operation, which decides its implicit group. `local` lasts until the source of a put may change.
enum class OperationKind : std::uint8_t { put, get, am, rmw, local };
inline constexpr std::size_t kOperationKinds = 5;

// Counts of a thread's implicit operations, which no event names.
struct ImplicitGroup {
  std::array<std::uint64_t, kOperationKinds> issued{};
  std::array<std::uint64_t, kOperationKinds> completed{};
  std::uint32_t open_region = kNoRegion;

  static constexpr std::uint32_t kNoRegion = 0xffffffffU;

  [[nodiscard]] bool is_complete(EventSet set) const {
    for (std::size_t kind = 0; kind < kOperationKinds; ++kind) {
      const bool named = ((static_cast<unsigned>(set) >> kind) & 1U) != 0;
      if (named && issued[kind] != completed[kind]) return false;
    }
    return true;
  }
};

// Table of operations. Slots are reused: the table grows to the largest number of operations outstanding at once.
class OperationTable {
 public:
  // Start an operation made of `parts` completions. With `group` it is implicit: it completes into the group or the
  // group's open access region, and no event names it.
  OperationId start(OperationKind kind, std::uint32_t parts, ImplicitGroup* group);
  // Change the number of completions announced at start().
  void add_parts(OperationId id, std::uint32_t parts) { slot(id).remaining += parts; }
  // Add completions, each of which `peer` reports by a message. An operation has only one such peer.
  void await(OperationId id, Rank peer, std::uint32_t answers);
  // Count one of these completions. Return false, and change nothing, if the peer owes the operation none.
  [[nodiscard]] bool answered(OperationId id, Rank peer);
  // Complete one part.
  void complete(OperationId id);
  // Remove an operation of which nothing was started, and its operation from start_local().
  void withdraw(OperationId id, OperationId local = conduit::kNoOperation);

  [[nodiscard]] Event event_of(OperationId id) const { return Event(static_cast<std::uint32_t>(id) + 2); }
  // Start a put's local completion as an operation of its own. Consuming the root consumes the leaf, too. A leaf
  // counts as complete when its root is.
  OperationId start_leaf(OperationId root, std::uint32_t parts);
  // Start a leaf that completes with its root and not before. No completion is reported for it.
  OperationId start_leaf_with_root(OperationId root);
  // Start a put's local completion as requested. It is a leaf, or an implicit operation of the root's group. The
  // latter belongs to EventSet::local and, in an access region, to the region and its leaf. Return kNoOperation if it
  // completes with the root.
  OperationId start_local(OperationId root, std::uint32_t parts, const LocalCompletion& local, ImplicitGroup* group);
  // Return the root's leaf if it has one that is not consumed, else done(). The answer stays the same until the leaf
  // is consumed. The leaf of an access region is complete when the sources of all its puts are free.
  [[nodiscard]] Event leaf_of(const Event& root);
  // Return text for reports: the kind of the event's operation and how many parts are missing.
  [[nodiscard]] std::string describe(const Event& event) const;
  [[nodiscard]] bool is_leaf(const Event& event) const { return !event.is_done() && slot_of(event).root != kEnd; }
  // Test an event; if true, the event was complete and is consumed.
  bool test(Event& event);
  // Arrays of events. Complete entries are consumed and overwritten with done(), whatever the result. Done entries are
  // skipped. A leaf may stand after its root.
  bool test_some(std::span<Event> events);  // true if at least one was completed now, or none was left
  bool test_all(std::span<Event> events);   // true if none is left

  void begin_region(ImplicitGroup& group);
  Event end_region(ImplicitGroup& group);

  // Return the number of operations neither completed nor consumed: 0 if nothing leaks.
  [[nodiscard]] std::uint32_t outstanding() const { return outstanding_; }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffffU;
  struct Slot {
    std::uint32_t remaining = 0;
    std::uint32_t answers = 0;  // part of `remaining` that the peer has not reported yet
    Rank peer{};
    std::uint32_t next_free = 0;
    std::uint32_t region = ImplicitGroup::kNoRegion;
    std::uint32_t sources = 0;  // of a region: sources of puts that must not change yet
    OperationKind kind = OperationKind::put;
    std::uint32_t leaf = kEnd;  // of a root
    std::uint32_t root = kEnd;  // of a leaf
    bool is_region = false;
    bool is_free = true;
    bool is_forsaken = false;   // of a leaf whose root was consumed first: the slot is freed when the leaf completes
    bool has_leaf = false;      // of a region: leaf_of() was called
    bool is_bound = false;      // of a region's leaf
    bool is_with_root = false;  // of a leaf that completes with its root
    bool holds_source = false;  // of a put in a region: completion frees a source
    ImplicitGroup* group = nullptr;
  };

  [[nodiscard]] Slot& slot(OperationId id) { return slots_[static_cast<std::uint32_t>(id)]; }
  [[nodiscard]] bool is_complete(const Slot& slot) const {
    if (slot.root == kEnd) return slot.remaining == 0;
    const Slot& root = slots_[slot.root];
    if (root.remaining == 0) return true;
    return !slot.is_with_root && (slot.is_bound ? root.sources == 0 : slot.remaining == 0);
  }
  [[nodiscard]] const Slot& slot_of(const Event& event) const;  // throws UsageError unless the event is outstanding
  // Note whether an operation in a region holds its source.
  void hold_source(Slot& slot, bool holds);
  void consume(Event& event);
  std::size_t consume_complete(std::span<Event> events);
  std::uint32_t take();
  void release(std::uint32_t index);

  std::vector<Slot> slots_;
  std::uint32_t first_free_ = kEnd;
  std::uint32_t outstanding_ = 0;
};

}  // namespace gasmeter::core

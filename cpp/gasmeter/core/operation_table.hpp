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

// The kind of an operation decides which implicit group it counts for; `local`: until the source of a put may change.
enum class OperationKind : std::uint8_t { put, get, am, rmw, local };
inline constexpr std::size_t kOperationKinds = 5;

// Implicit operations of one thread that no event names.
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

// Slots are reused; the table grows to the largest number of operations that were ever outstanding at once.
class OperationTable {
 public:
  // A new operation made of `parts` completions. With `group` it is implicit: it completes into the group or the
  // group's open access region, and nobody waits for it by name.
  OperationId start(OperationKind kind, std::uint32_t parts, ImplicitGroup* group);
  // More or fewer completions than announced at start().
  void add_parts(OperationId id, std::uint32_t parts) { slot(id).remaining += parts; }
  // More completions, each of which `peer` tells of by a message. An operation has one such peer.
  void await(OperationId id, Rank peer, std::uint32_t answers);
  // The peer says that one of them is there. False, and nothing changes: it owes this operation none.
  [[nodiscard]] bool answered(OperationId id, Rank peer);
  // One part is complete.
  void complete(OperationId id);
  // Takes back an operation of which nothing was started, and what start_local() made of it.
  void withdraw(OperationId id, OperationId local = conduit::kNoOperation);

  [[nodiscard]] Event event_of(OperationId id) const { return Event(static_cast<std::uint32_t>(id) + 2); }
  // A put's local completion as an operation of its own. Consuming the root consumes the leaf, too; the leaf counts as
  // complete when the root is.
  OperationId start_leaf(OperationId root, std::uint32_t parts);
  // A leaf that is complete when the root is, and not before: nobody tells of it.
  OperationId start_leaf_with_root(OperationId root);
  // A put's local completion as it was asked for: a leaf, or an implicit operation of the root's group that belongs to
  // EventSet::local and, in an access region, to the region and its leaf. kNoOperation if it comes with the root.
  OperationId start_local(OperationId root, std::uint32_t parts, const LocalCompletion& local, ImplicitGroup* group);
  // The root's leaf, if it has one that is not consumed; done() otherwise. A query: the same answer until it is
  // consumed. An access region's is complete when the sources of all its puts are free.
  [[nodiscard]] Event leaf_of(const Event& root);
  // For reports: what the event is of and how much of it is missing.
  [[nodiscard]] std::string describe(const Event& event) const;
  [[nodiscard]] bool is_leaf(const Event& event) const { return !event.is_done() && slot_of(event).root != kEnd; }
  // True: complete, and the event is consumed.
  bool test(Event& event);
  // Arrays: complete entries are consumed and overwritten with done(), whatever the answer. Entries that are done
  // already are skipped; a leaf may stand after its root.
  bool test_some(std::span<Event> events);  // at least one was completed now, or none was left
  bool test_all(std::span<Event> events);   // none is left

  void begin_region(ImplicitGroup& group);
  Event end_region(ImplicitGroup& group);

  // Operations neither completed nor consumed: zero when nothing leaks.
  [[nodiscard]] std::uint32_t outstanding() const { return outstanding_; }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffffU;
  struct Slot {
    std::uint32_t remaining = 0;
    std::uint32_t answers = 0;  // of these, what the peer has yet to tell of
    Rank peer{};
    std::uint32_t next_free = 0;
    std::uint32_t region = ImplicitGroup::kNoRegion;
    std::uint32_t sources = 0;  // of a region: those of puts that must not change yet
    OperationKind kind = OperationKind::put;
    std::uint32_t leaf = kEnd;  // of a root
    std::uint32_t root = kEnd;  // of a leaf
    bool is_region = false;
    bool is_free = true;
    bool is_forsaken = false;   // a leaf whose root was consumed first: freed when it completes
    bool has_leaf = false;      // of a region: was asked for its leaf once
    bool is_bound = false;      // a region's leaf
    bool is_with_root = false;  // a leaf of which nobody tells
    bool holds_source = false;  // in a region: its completion frees one
    ImplicitGroup* group = nullptr;
  };

  [[nodiscard]] Slot& slot(OperationId id) { return slots_[static_cast<std::uint32_t>(id)]; }
  [[nodiscard]] bool is_complete(const Slot& slot) const {
    if (slot.root == kEnd) return slot.remaining == 0;
    const Slot& root = slots_[slot.root];
    if (root.remaining == 0) return true;
    return !slot.is_with_root && (slot.is_bound ? root.sources == 0 : slot.remaining == 0);
  }
  [[nodiscard]] const Slot& slot_of(const Event& event) const;  // throws unless it is outstanding
  // Of an operation in a region.
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

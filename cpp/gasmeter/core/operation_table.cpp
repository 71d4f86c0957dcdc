#include "gasmeter/core/operation_table.hpp"

#include "gasmeter/base/error.hpp"

namespace gasmeter::core {

std::uint32_t OperationTable::take() {
  ++outstanding_;
  if (first_free_ == kEnd) {
    slots_.emplace_back();
    slots_.back().is_free = false;
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t index = first_free_;
  first_free_ = slots_[index].next_free;
  slots_[index] = Slot{};
  slots_[index].is_free = false;
  return index;
}

void OperationTable::release(std::uint32_t index) {
  --outstanding_;
  slots_[index].is_free = true;
  slots_[index].next_free = first_free_;
  first_free_ = index;
}

OperationId OperationTable::start(OperationKind kind, std::uint32_t parts, ImplicitGroup* group) {
  const std::uint32_t index = take();
  Slot& slot = slots_[index];
  slot.kind = kind;
  slot.remaining = parts;
  slot.group = group;
  if (group != nullptr) {
    slot.region = group->open_region;
    if (slot.region != ImplicitGroup::kNoRegion) {
      ++slots_[slot.region].remaining;
      hold_source(slot, kind == OperationKind::put || kind == OperationKind::local);
    } else {
      ++group->issued[static_cast<std::size_t>(kind)];
    }
  }
  return OperationId{index};
}

void OperationTable::await(OperationId id, Rank peer, std::uint32_t answers) {
  Slot& awaiting = slot(id);
  awaiting.remaining += answers;
  awaiting.answers += answers;
  awaiting.peer = peer;
}

bool OperationTable::answered(OperationId id, Rank peer) {
  if (static_cast<std::uint32_t>(id) >= slots_.size()) return false;
  Slot& answered = slot(id);
  if (answered.is_free || answered.answers == 0 || answered.peer != peer) return false;
  --answered.answers;
  complete(id);
  return true;
}

void OperationTable::complete(OperationId id) {
  const auto index = static_cast<std::uint32_t>(id);
  Slot& slot = slots_[index];
  if (--slot.remaining != 0) return;
  if (slot.is_forsaken) {
    release(index);
    return;
  }
  if (slot.group == nullptr || slot.is_region) return;
  if (slot.region != ImplicitGroup::kNoRegion) {
    --slots_[slot.region].remaining;
    hold_source(slot, false);
  } else {
    ++slot.group->completed[static_cast<std::size_t>(slot.kind)];
  }
  if (slot.leaf != kEnd) slots_[slot.leaf].root = kEnd;
  release(index);
}

void OperationTable::withdraw(OperationId id, OperationId local) {
  const auto index = static_cast<std::uint32_t>(id);
  Slot& slot = slots_[index];
  if (local != conduit::kNoOperation && static_cast<std::uint32_t>(local) != slot.leaf) withdraw(local);
  if (slot.group != nullptr) {
    if (slot.region != ImplicitGroup::kNoRegion) {
      --slots_[slot.region].remaining;
      hold_source(slot, false);
    } else {
      --slot.group->issued[static_cast<std::size_t>(slot.kind)];
    }
  }
  if (slot.leaf != kEnd) release(slot.leaf);
  release(index);
}

OperationId OperationTable::start_leaf(OperationId root, std::uint32_t parts) {
  const std::uint32_t index = take();
  slots_[index].remaining = parts;
  slots_[index].root = static_cast<std::uint32_t>(root);
  slot(root).leaf = index;
  return OperationId{index};
}

OperationId OperationTable::start_leaf_with_root(OperationId root) {
  const OperationId leaf = start_leaf(root, 0);
  slot(leaf).is_with_root = true;
  return leaf;
}

OperationId OperationTable::start_local(OperationId root, std::uint32_t parts, const LocalCompletion& local,
                                        ImplicitGroup* group) {
  if (local.is_with_root() || (local.is_with_group() && group == nullptr)) return conduit::kNoOperation;
  if (!local.is_with_group()) return start_leaf(root, parts);
  if (slot(root).region != ImplicitGroup::kNoRegion) hold_source(slot(root), false);
  return start(OperationKind::local, parts, group);
}

void OperationTable::hold_source(Slot& slot, bool holds) {
  if (slot.holds_source == holds) return;
  slot.holds_source = holds;
  if (holds) {
    ++slots_[slot.region].sources;
  } else {
    --slots_[slot.region].sources;
  }
}

Event OperationTable::leaf_of(const Event& root) {
  if (root.is_done()) return Event::done();
  const Slot& slot = slot_of(root);
  if (slot.is_region && !slot.has_leaf) {
    const std::uint32_t region = root.value_ - 2;
    // The call may move the slots, so that `slot` is not used after it.
    const auto bound = static_cast<std::uint32_t>(start_leaf(OperationId{region}, 0));
    slots_[bound].is_bound = true;
    slots_[region].has_leaf = true;
    return event_of(OperationId{bound});
  }
  return slot.leaf == kEnd ? Event::done() : event_of(OperationId{slot.leaf});
}

const OperationTable::Slot& OperationTable::slot_of(const Event& event) const {
  if (event.is_no_op()) {
    throw UsageError("event: a no-op event (a refused immediate operation) cannot be waited for");
  }
  const std::uint32_t index = event.value_ - 2;
  if (index >= slots_.size() || slots_[index].is_free) {
    throw UsageError("event: slot " + std::to_string(index) + " is not outstanding; an event is consumed exactly once");
  }
  return slots_[index];
}

std::string OperationTable::describe(const Event& event) const {
  static constexpr std::array kNames{"put", "get", "active message", "read-modify-write", "local completion"};
  if (event.is_done()) return "an event that is complete";
  const Slot& slot = slot_of(event);
  const char* const name = slot.is_region ? "access region" : kNames[static_cast<std::size_t>(slot.kind)];
  return "event " + std::to_string(event.value_ - 2) + " (" + (slot.root != kEnd ? "local completion of a " : "") +
         name + "), of which " + std::to_string(slot.remaining) + (slot.is_region ? " operations" : " parts") +
         " are missing";
}

void OperationTable::consume(Event& event) {
  const std::uint32_t index = event.value_ - 2;
  event = Event::done();
  const std::uint32_t leaf = slots_[index].leaf;
  const std::uint32_t root = slots_[index].root;
  if (leaf != kEnd) {
    slots_[leaf].root = kEnd;
    slots_[leaf].is_forsaken = true;
    if (slots_[leaf].remaining == 0) release(leaf);
  }
  if (root != kEnd) slots_[root].leaf = kEnd;
  if (slots_[index].remaining == 0) {
    release(index);
  } else {
    slots_[index].root = kEnd;  // a leaf whose completion the network has not reported yet
    slots_[index].is_forsaken = true;
  }
}

bool OperationTable::test(Event& event) {
  if (event.is_done()) return true;
  if (!is_complete(slot_of(event))) return false;
  consume(event);
  return true;
}

// Consume all complete entries; return their number. Leaves come first, since consuming a root consumes its leaf.
std::size_t OperationTable::consume_complete(std::span<Event> events) {
  std::size_t consumed = 0;
  for (const bool leaves : {true, false}) {
    for (Event& event : events) {
      if (event.is_done()) continue;
      const Slot& slot = slot_of(event);
      if ((slot.root != kEnd) != leaves || !is_complete(slot)) continue;
      consume(event);
      ++consumed;
    }
  }
  return consumed;
}

bool OperationTable::test_some(std::span<Event> events) {
  bool any_left = false;
  for (const Event& event : events) any_left = any_left || !event.is_done();
  return consume_complete(events) != 0 || !any_left;
}

bool OperationTable::test_all(std::span<Event> events) {
  (void)consume_complete(events);
  for (const Event& event : events) {
    if (!event.is_done()) return false;
  }
  return true;
}

void OperationTable::begin_region(ImplicitGroup& group) {
  if (group.open_region != ImplicitGroup::kNoRegion) {
    throw UsageError("access region: regions do not nest; end the open one first");
  }
  const std::uint32_t index = take();
  slots_[index].is_region = true;
  slots_[index].group = &group;
  group.open_region = index;
}

Event OperationTable::end_region(ImplicitGroup& group) {
  if (group.open_region == ImplicitGroup::kNoRegion) throw UsageError("access region: none is open");
  const std::uint32_t index = group.open_region;
  group.open_region = ImplicitGroup::kNoRegion;
  if (slots_[index].remaining == 0) {
    release(index);
    return Event::done();
  }
  return event_of(OperationId{index});
}

}  // namespace gasmeter::core

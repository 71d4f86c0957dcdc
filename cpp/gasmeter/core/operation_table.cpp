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
    } else {
      ++group->issued[static_cast<std::size_t>(kind)];
    }
  }
  return OperationId{index};
}

void OperationTable::complete(OperationId id) {
  const auto index = static_cast<std::uint32_t>(id);
  Slot& slot = slots_[index];
  if (--slot.remaining != 0 || slot.group == nullptr || slot.is_region) return;
  if (slot.region != ImplicitGroup::kNoRegion) {
    --slots_[slot.region].remaining;
  } else {
    ++slot.group->completed[static_cast<std::size_t>(slot.kind)];
  }
  release(index);
}

void OperationTable::withdraw(OperationId id) {
  const auto index = static_cast<std::uint32_t>(id);
  Slot& slot = slots_[index];
  if (slot.group != nullptr) {
    if (slot.region != ImplicitGroup::kNoRegion) {
      --slots_[slot.region].remaining;
    } else {
      --slot.group->issued[static_cast<std::size_t>(slot.kind)];
    }
  }
  release(index);
}

bool OperationTable::test(Event& event) {
  if (event.is_done()) return true;
  if (event.is_no_op()) {
    throw UsageError("event: a no-op event (a refused immediate operation) cannot be waited for");
  }
  const std::uint32_t index = event.value_ - 2;
  if (index >= slots_.size() || slots_[index].is_free) {
    throw UsageError("event: slot " + std::to_string(index) + " is not outstanding; an event is consumed exactly once");
  }
  if (slots_[index].remaining != 0) return false;
  release(index);
  event = Event::done();
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

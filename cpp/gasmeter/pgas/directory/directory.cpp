#include "gasmeter/pgas/directory/directory.hpp"

#include <algorithm>

#include "gasmeter/base/error.hpp"

namespace gasmeter::pgas {
namespace {

constexpr std::uint32_t kGenerations = 1U << (32 - Handle::kSlotBits);

}  // namespace

std::string name_of(Handle handle, std::uint32_t ranks) {
  const std::string number = std::to_string(handle.slot()) + "." + std::to_string(handle.generation());
  if (handle.partition == ranks) return "object " + number + " of all";
  return "object " + number + " of rank " + std::to_string(handle.partition);
}

Handle Directory::next(std::uint32_t partition) const {
  const Partition* const in = partition == ranks_ ? &all_ : other(partition);
  if (in == nullptr) return Handle::of(partition, 0, 0);
  if (!in->vacant.empty()) {
    const std::uint32_t slot = in->vacant.back();
    return Handle::of(partition, slot, in->slots[slot].generation);
  }
  if (in->slots.size() == Handle::kSlots) {
    throw UsageError("shared variable directory: a partition holds " + std::to_string(Handle::kSlots) + " objects");
  }
  return Handle::of(partition, static_cast<std::uint32_t>(in->slots.size()), 0);
}

void Directory::add(Handle handle, const Object& object) {
  Partition& partition = at(handle.partition);
  if (handle.slot() >= partition.slots.size()) {
    // Notices of one writer arrive in order, except over a conduit that reorders. Slots of late notices stay vacant
    // meanwhile.
    partition.slots.resize(handle.slot() + std::size_t{1});
  }
  Slot& slot = partition.slots[handle.slot()];
  if (slot.state != State::vacant) {
    throw UsageError("shared variable directory: " + name_of(handle, ranks_) + " is there already");
  }
  const auto slot_number = std::find(partition.vacant.begin(), partition.vacant.end(), handle.slot());
  if (slot_number != partition.vacant.end()) partition.vacant.erase(slot_number);
  slot = {object, handle.generation(), State::alive};
  ++objects_;
}

Directory::Slot* Directory::slot_of(Handle handle) {
  if (handle.partition != ranks_ && !others_.contains(handle.partition)) return nullptr;
  Partition& partition = at(handle.partition);
  if (handle.slot() >= partition.slots.size()) return nullptr;
  Slot& slot = partition.slots[handle.slot()];
  return slot.generation == handle.generation() ? &slot : nullptr;
}

bool Directory::invalidate(Handle handle) {
  Slot* const slot = slot_of(handle);
  if (slot == nullptr || slot->state != State::alive) return false;
  slot->state = State::invalid;
  return true;
}

Object Directory::release(Handle handle) {
  Slot* const slot = slot_of(handle);
  if (slot == nullptr || slot->state != State::invalid) {
    throw UsageError("shared variable directory: " + name_of(handle, ranks_) + " is released, and was not invalidated");
  }
  const Object object = slot->object;
  slot->state = State::vacant;
  --objects_;
  // A handle means one object for ever. A slot whose generations are used up is therefore not used again.
  if (++slot->generation < kGenerations) at(handle.partition).vacant.push_back(handle.slot());
  return object;
}

}  // namespace gasmeter::pgas

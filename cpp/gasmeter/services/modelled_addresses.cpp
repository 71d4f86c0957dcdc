#include "gasmeter/services/modelled_addresses.hpp"

#include <algorithm>
#include <iterator>

#include "gasmeter/base/error.hpp"

namespace gasmeter::services {
namespace {

std::uintptr_t number_of(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory);
}

}  // namespace

void ModelledAddresses::place_segment(std::span<const std::byte> segment) {
  segment_ = number_of(segment.data());
  segment_bytes_ = segment.size();
}

bool ModelledAddresses::is_segment(const void* memory, Bytes bytes) const {
  const std::uintptr_t offset = number_of(memory) - segment_;
  return number_of(memory) >= segment_ && offset <= segment_bytes_ && bytes <= segment_bytes_ - offset;
}

// Return the first object that ends behind `address`.
ModelledAddresses::Objects::iterator ModelledAddresses::first_behind(std::uintptr_t address) {
  auto next = objects_.upper_bound(address);
  if (next != objects_.begin() && std::prev(next)->second.end > address) --next;
  return next;
}

std::uint64_t ModelledAddresses::at(const void* memory, Bytes bytes) {
  if (bytes == 0) throw UsageError("modelled addresses: no bytes have no address; 1 or more are needed");
  const std::uintptr_t begin = number_of(memory);
  if (is_segment(memory, bytes)) return kSegment + (begin - segment_);
  const std::uintptr_t end = begin + bytes;
  const auto first = first_behind(begin);
  if (first == objects_.end() || first->first >= end) {
    const std::uint64_t address = kObjects + uses_ * kSegment;
    objects_.emplace_hint(first, begin, Object{end, address, uses_++});
    return address;
  }
  if (first->first <= begin && end <= first->second.end) return first->second.address + (begin - first->first);

  auto last = first;
  auto earliest = first;
  std::uintptr_t joined_begin = std::min(begin, first->first);
  std::uintptr_t joined_end = end;
  for (; last != objects_.end() && last->first < end; ++last) {
    joined_end = std::max(joined_end, last->second.end);
    if (last->second.order < earliest->second.order) earliest = last;
  }
  const Object joined{joined_end, earliest->second.address - earliest->first + joined_begin, earliest->second.order};
  objects_.erase(first, last);
  objects_.emplace(joined_begin, joined);
  return joined.address + (begin - joined_begin);
}

std::vector<ModelledAddresses::Range> ModelledAddresses::forget(std::span<const std::byte> memory) {
  std::vector<Range> gone;
  if (memory.empty()) return gone;
  const std::uintptr_t begin = number_of(memory.data());
  for (auto each = first_behind(begin); each != objects_.end() && each->first < begin + memory.size();) {
    gone.push_back({each->second.address, each->second.end - each->first});
    each = objects_.erase(each);
  }
  std::sort(gone.begin(), gone.end(), [](const Range& a, const Range& b) { return a.address < b.address; });
  return gone;
}

}  // namespace gasmeter::services

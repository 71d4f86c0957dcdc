#include "gasmeter/networks/sci/sca_mpi_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gasmeter::networks::sci {

void ScaMpiMemory::store(Bytes at, std::span<const std::byte> bytes) {
  const auto number = static_cast<std::uint32_t>(at / layout_.bytes_of_sender());
  const Bytes offset = at % layout_.bytes_of_sender();
  const ScaMpiLayout::Part which = layout_.part_at(offset);
  Sender& sender = senders_[number];
  if (sender.parts.empty()) sender.parts.resize(layout_.parts());
  std::vector<std::byte>& part = sender.parts[which.number];
  const Bytes end = offset - which.begin + bytes.size();
  if (part.size() < end) part.resize(std::min(which.bytes, std::bit_ceil(end)));
  std::memcpy(part.data() + offset - which.begin, bytes.data(), bytes.size());
  if (which.number == 0) note(number, sender);
}

void ScaMpiMemory::load(Bytes at, std::span<std::byte> into) const {
  std::fill(into.begin(), into.end(), std::byte{0});
  const auto entry = senders_.find(static_cast<std::uint32_t>(at / layout_.bytes_of_sender()));
  if (entry == senders_.end()) return;
  const Bytes offset = at % layout_.bytes_of_sender();
  const ScaMpiLayout::Part which = layout_.part_at(offset);
  const std::vector<std::byte>& part = entry->second.parts[which.number];
  const Bytes first = offset - which.begin;
  if (first < part.size()) std::memcpy(into.data(), part.data() + first, std::min(into.size(), part.size() - first));
}

// Note whether the next envelope of a sender has arrived.
void ScaMpiMemory::note(std::uint32_t number, const Sender& sender) {
  const std::vector<std::byte>& channel = sender.parts[0];
  const Bytes first = layout_.entry(sender.read);
  Envelope next;
  if (channel.size() >= first + sizeof next) std::memcpy(&next, channel.data() + first, sizeof next);
  const bool is_there = next.kind != Envelope::Kind::none && next.number == sender.read;
  const auto place = std::lower_bound(there_.begin(), there_.end(), number);
  const bool is_noted = place != there_.end() && *place == number;
  if (is_there && !is_noted) there_.insert(place, number);
  if (!is_there && is_noted) there_.erase(place);
}

std::optional<ScaMpiMemory::Found> ScaMpiMemory::next(Rank from) const {
  if (there_.empty()) return std::nullopt;
  auto entry = std::lower_bound(there_.begin(), there_.end(), index(from));
  if (entry == there_.end()) entry = there_.begin();
  const std::uint32_t passed = *entry >= index(from) ? *entry - index(from) : *entry + ranks_ - index(from);
  return Found{Rank{*entry}, passed};
}

Envelope ScaMpiMemory::envelope(Rank sender) const {
  Envelope result;
  std::memcpy(&result, at(sender, layout_.entry(senders_.at(index(sender)).read)), sizeof result);
  return result;
}

const std::byte* ScaMpiMemory::at(Rank sender, Bytes offset) const {
  const ScaMpiLayout::Part which = layout_.part_at(offset);
  return senders_.at(index(sender)).parts[which.number].data() + offset - which.begin;
}

// Clear the entries: the end of a payload could look like an envelope of the next round.
void ScaMpiMemory::empty(Rank sender, std::uint32_t entries) {
  Sender& self = senders_.at(index(sender));
  for (; entries != 0; --entries) {
    std::memset(self.parts[0].data() + layout_.entry(self.read++) + offsetof(Envelope, kind), 0, sizeof Envelope::kind);
  }
  note(index(sender), self);
}

Freed ScaMpiMemory::freed(Rank sender) const {
  Freed result;
  load(layout_.at(sender) + ScaMpiLayout::freed(), std::as_writable_bytes(std::span(&result, 1)));
  return result;
}

}  // namespace gasmeter::networks::sci

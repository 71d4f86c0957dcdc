#include "gasmeter/networks/portals/match_table.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::portals {

namespace {

[[noreturn]] void refuse(Rank rank, const std::string& problem) {
  throw UsageError("portals: rank " + std::to_string(index(rank)) + problem);
}

// Return a place that was used before, or a new one.
template <class Object>
std::uint32_t take_place(std::vector<Object>& all, std::vector<std::uint32_t>& free) {
  if (free.empty()) {
    all.emplace_back();
    return static_cast<std::uint32_t>(all.size() - 1);
  }
  const std::uint32_t place = free.back();
  free.pop_back();
  return place;
}

}  // namespace

// ---- look-up

void MatchTable::refuse_md() const {
  refuse(owner_, " names a memory descriptor that does not exist or is gone");
}

MatchTable::Me& MatchTable::at(MeHandle entry) {
  if (!exists(entry)) refuse(owner_, " names a match entry that does not exist or is gone");
  return mes_[entry.place];
}

MatchTable::List& MatchTable::list(std::uint32_t portal) {
  if (portal >= kPortals) {
    refuse(owner_, "'s portal " + std::to_string(portal) + "; 0.." + std::to_string(kPortals - 1) + " are allowed");
  }
  for (Portal& each : portals_) {
    if (each.index == portal) return each.list;
  }
  portals_.push_back({portal, {}});
  return portals_.back().list;
}

// ---- match entries

MeHandle MatchTable::make(std::uint32_t portal, const MatchEntry& entry) {
  const std::uint32_t place = take_place(mes_, free_mes_);
  Me& me = mes_[place];
  me.entry = entry;
  me.md = {};
  me.portal = portal;
  me.exists = true;
  return {place, me.generation};
}

MeHandle MatchTable::attach(std::uint32_t portal, const MatchEntry& entry, Position position) {
  List& entries = list(portal);
  const MeHandle handle = make(portal, entry);
  entries.insert(position == Position::before ? entries.begin() : entries.end(), handle.place);
  return handle;
}

MeHandle MatchTable::insert(MeHandle beside, const MatchEntry& entry, Position position) {
  const std::uint32_t portal = at(beside).portal;
  List& entries = list(portal);
  const auto where = std::find(entries.begin(), entries.end(), beside.place) - entries.begin();
  const MeHandle handle = make(portal, entry);
  entries.insert(entries.begin() + where + (position == Position::after ? 1 : 0), handle.place);
  return handle;
}

void MatchTable::leave_list(MeHandle entry) {
  Me& me = at(entry);
  std::erase(list(me.portal), entry.place);
  me.exists = false;
  ++me.generation;
  free_mes_.push_back(entry.place);
}

bool MatchTable::unlink(MeHandle entry) {
  const MdHandle md = at(entry).md;
  if (exists(md)) {
    if (at(md).under_way != 0) return false;
    at(md).entry = {};
    remove(md);
  }
  leave_list(entry);
  return true;
}

// ---- memory descriptors

MdHandle MatchTable::make(const MemoryDescriptor& descriptor, Unlink unlink) {
  const std::uint32_t place = take_place(mds_, free_mds_);
  Md& md = mds_[place];
  const std::uint32_t generation = md.generation;
  md = {.descriptor = descriptor, .entry = {}, .unlink = unlink, .generation = generation, .exists = true};
  ++descriptors_;
  return {place, generation};
}

MdHandle MatchTable::attach(MeHandle entry, const MemoryDescriptor& descriptor, Unlink unlink) {
  if (exists(at(entry).md)) refuse(owner_, " attaches a second memory descriptor to a match entry; one is allowed");
  const MdHandle md = make(descriptor, unlink);
  at(md).entry = entry;
  at(entry).md = md;
  return md;
}

MdHandle MatchTable::bind(const MemoryDescriptor& descriptor, Unlink unlink) {
  return make(descriptor, unlink);
}

// An entry that does not go with its descriptor keeps its place in the list.
void MatchTable::detach(Md& md) {
  const MeHandle entry = std::exchange(md.entry, {});
  if (!exists(entry)) return;
  at(entry).md = {};
  if (at(entry).entry.unlink == Unlink::unlink) leave_list(entry);
}

void MatchTable::remove(MdHandle handle) {
  Md& md = at(handle);
  detach(md);
  md.exists = false;
  ++md.generation;
  free_mds_.push_back(handle.place);
  --descriptors_;
}

bool MatchTable::unlink(MdHandle md) {
  if (at(md).under_way != 0) return false;
  remove(md);
  return true;
}

bool MatchTable::update(MdHandle handle, const MemoryDescriptor& descriptor) {
  Md& md = at(handle);
  if (md.under_way != 0) return false;
  md.descriptor = descriptor;
  md.offset = 0;
  md.is_full = false;
  return true;
}

// ---- operations

bool MatchTable::takes(const Md& md, const Operation& operation, Match& match) {
  const MemoryDescriptor& d = md.descriptor;
  if (!(operation.kind == OperationKind::put ? d.put : d.get) || d.threshold == 0 || md.is_full) return false;
  match.offset = d.remote_offset ? operation.remote_offset : md.offset;
  const Bytes room = match.offset > d.length ? 0 : d.length - match.offset;
  if (operation.length > room && !d.truncate) return false;
  if (match.offset > d.length && !d.truncate) return false;
  match.offset = std::min(match.offset, d.length);
  match.length = std::min(operation.length, room);
  return true;
}

void MatchTable::count_one(Md& md) {
  if (md.descriptor.threshold != kUnlimited) --md.descriptor.threshold;
}

Match MatchTable::match(const Operation& operation) {
  Match match;
  for (const std::uint32_t place : list(operation.portal)) {
    const Me& me = mes_[place];
    ++match.steps;
    if (((operation.match_bits ^ me.entry.match) & ~me.entry.ignore) != 0) continue;
    if (me.entry.source != kAnyRank && me.entry.source != operation.source) continue;
    if (!exists(me.md) || !takes(at(me.md), operation, match)) continue;
    match.md = me.md;
    break;
  }
  if (!match.md) return {.md = {}, .offset = 0, .length = 0, .steps = match.steps};
  Md& md = at(match.md);
  ++md.under_way;
  count_one(md);
  const MemoryDescriptor& d = md.descriptor;
  if (!d.remote_offset) {
    md.offset = match.offset + match.length;
    md.is_full = d.most != 0 && d.length - md.offset < d.most;
  }
  if (md.unlink == Unlink::unlink && (d.threshold == 0 || md.is_full)) detach(md);
  return match;
}

bool MatchTable::begin(MdHandle handle) {
  if (!count(handle)) return false;
  ++at(handle).under_way;
  return true;
}

bool MatchTable::count(MdHandle handle) {
  Md& md = at(handle);
  if (md.descriptor.threshold == 0) return false;
  count_one(md);
  if (md.unlink == Unlink::unlink && md.descriptor.threshold == 0) detach(md);
  return true;
}

void MatchTable::end(MdHandle md) {
  --at(md).under_way;
}

bool MatchTable::is_over(MdHandle handle) const {
  const Md& md = at(handle);
  return md.unlink == Unlink::unlink && md.under_way == 0 && (md.descriptor.threshold == 0 || md.is_full);
}

void MatchTable::take(MdHandle md) {
  remove(md);
}

}  // namespace gasmeter::networks::portals

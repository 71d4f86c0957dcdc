// Description of the objects of a rank's interface, in words.
#include "gasmeter/conduit/holdings.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/networks/portals/portals.hpp"

namespace gasmeter::networks::portals {

namespace {

using conduit::Holding;

std::string hexadecimal(std::uint64_t bits) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(bits));
  return text.data();
}

std::string words_said(std::initializer_list<std::pair<bool, const char*>> words, const char* between = ", ") {
  std::string text;
  for (const auto& [is_said, word] : words) {
    if (is_said) text += (text.empty() ? "" : between) + std::string(word);
  }
  return text;
}

std::string threshold_text(std::uint32_t threshold) {
  return threshold == kUnlimited ? "unlimited" : std::to_string(threshold);
}

}  // namespace

std::vector<Holding> Portals::holdings() const {
  std::vector<Holding> all;
  const auto queue_of = [&](const MemoryDescriptor& md) -> std::string {
    return md.events ? queue(md.events).name : "none";
  };
  table_.for_each([&](const MatchTable::Listed& listed) {
    const MemoryDescriptor& md = *listed.descriptor;
    const MatchEntry* const entry = listed.entry;
    const bool goes = listed.unlink == Unlink::unlink;
    all.push_back({"MD",
                   md.name,
                   {{"portal", entry != nullptr ? std::to_string(listed.portal) : "none"},
                    {"match bits", entry != nullptr ? hexadecimal(entry->match) : "none"},
                    {"ignore bits", entry != nullptr ? hexadecimal(entry->ignore) : "none"},
                    {"operations", entry == nullptr ? "none" : words_said({{md.put, "PUT"}, {md.get, "GET"}}, "/")},
                    {"offset", entry == nullptr   ? "none"
                               : md.remote_offset ? "REMOTE"
                                                  : "LOCAL"},
                    {"event queue", queue_of(md)},
                    {"bytes", std::to_string(md.length)},
                    {"threshold", threshold_text(md.threshold)},
                    {"options", words_said({{md.truncate, "truncate"},
                                            {md.no_ack, "no ACK"},
                                            {md.no_start_events, "no START"},
                                            {md.no_end_events, "no END"},
                                            {goes && md.most == 0, "unlinked when used up"},
                                            {goes && md.most != 0, "unlinked when full"}})}}});
  });
  for (const auto& each : queues_) {
    if (!each->exists) continue;
    all.push_back({"EQ",
                   each->name,
                   {{"events", std::to_string(each->most)},
                    {"bytes", std::to_string(each->most * kEventEntry)},
                    {"waiting", std::to_string(each->events.size())}}});
  }
  return all;
}

}  // namespace gasmeter::networks::portals

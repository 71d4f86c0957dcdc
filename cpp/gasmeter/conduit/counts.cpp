#include "gasmeter/conduit/counts.hpp"

namespace gasmeter::conduit {

const char* name_of(Count which) {
  static constexpr std::array<const char*, static_cast<std::size_t>(Count::count_)> kNames = {
      "messages",    "transfers",        "payload_bytes",
      "stalls",      "ring_messages",    "ring_bytes",
      "ring_stalls", "datagrams",        "two_sided_messages",
      "retransmits", "acknowledgements", "credits",
      "direct",      "duplicates",       "discarded",
      "packets",     "packet_bytes",     "commands",
      "refusals",    "not_ready",        "held",
      "drops",       "interrupts"};
  return kNames[static_cast<std::size_t>(which)];
}

void ConduitCounters::add_to(Counts& counts) const {
  counts.add(Count::messages, messages);
  counts.add(Count::transfers, transfers);
  counts.add(Count::payload_bytes, payload_bytes);
  counts.add(Count::stalls, stalls);
}

}  // namespace gasmeter::conduit

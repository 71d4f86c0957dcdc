#include "gasmeter/conduit/counts.hpp"

#include "gasmeter/conduit/count_infos.hpp"

namespace gasmeter::conduit {

namespace {

constexpr const char* kTimes = "1";
constexpr const char* kBytes = "B";
constexpr const char* kNanoseconds = "ns";

// Counters in the order of Count.
constexpr std::array<CountInfo, static_cast<std::size_t>(Count::count_)> kInfos = {{
    {"messages", "active messages that a conduit was handed, requests and replies", kTimes},
    {"transfers", "puts and gets that a conduit was handed, and atomics that it does itself", kTimes},
    {"payload_bytes", "of both, without headers", kBytes},
    {"stalls", "attempts for which a conduit had no room: no slot, no credit, a full window or queue", kTimes},
    {"ring_messages", "active messages that came through the rings between neighbours, requests and replies", kTimes},
    {"ring_bytes", "of their records, headers and padding among them", kBytes},
    {"ring_stalls", "attempts for which a ring had no room", kTimes},
    {"datagrams", "handed to sockets, those sent again among them", kTimes},
    {"two_sided_messages", "handed to an MPI or its model", kTimes},
    {"retransmits", "datagrams or sends that went again", kTimes},
    {"acknowledgements", "datagrams that acknowledge and carry nothing else", kTimes},
    {"credits", "messages that return credits and carry nothing else", kTimes},
    {"direct", "puts, gets and atomics through memory that an MPI shares", kTimes},
    {"ringed", "messages that were written by RDMA into rings that their targets poll", kTimes},
    {"duplicates", "datagrams that had come before", kTimes},
    {"discarded", "datagrams that were damaged, a stranger's, of another run, or too early", kTimes},
    {"loans", "credits that were lent to who missed them", kTimes},
    {"revocations", "credits that were asked back, and came", kTimes},
    {"caught", "requests that came without a credit", kTimes},
    {"bounced", "puts and gets of memory outside the segment that were copied by a buffer", kTimes},
    {"region_hits", "transfers, or their pieces, whose memory was registered", kTimes},
    {"region_misses", "those for which a region was registered", kTimes},
    {"region_evictions", "regions that went for a limit's sake", kTimes},
    {"packets", "that ranks handed to a modelled device, or that a card has received (Ethernet)", kTimes},
    {"packet_bytes", "of them", kBytes},
    {"commands", "puts and gets of a modelled card, work requests", kTimes},
    {"refusals", "packets and commands that a modelled card had no place for", kTimes},
    {"not_ready", "sends that found no receive", kTimes},
    {"held", "packets that waited in a card for a full mailbox, notifications for a full queue", kTimes},
    {"drops", "packets or datagrams that were lost to a full mailbox, ring or buffer", kTimes},
    {"interrupts", "of modelled cards", kTimes},
    {"lookups", "in caches of remote addresses", kTimes},
    {"hits", "of them, those that found an address", kTimes},
    {"misses", "... and those that did not", kTimes},
    {"entries", "in use of a rank's cache of remote addresses, summed over its look-ups", kTimes},
    {"pins", "in use of a rank's table of pinned memory, likewise", kTimes},
    {"evictions", "entries of such caches that went for the capacity's sake", kTimes},
    {"invalidations", "... that went because their object was freed", kTimes},
    {"remote_accesses", "to shared objects, that leave the node", kTimes},
    {"local_accesses", "to shared objects, within the node", kTimes},
    {"waits", "in remote ones from the call to the data, or to local completion; in virtual time alone", kNanoseconds},
    {"seeded_lookups", "look-ups of one rank, which the seed draws among those that made some", kTimes},
    {"seeded_hits", "hits of that rank", kTimes},
}};

}  // namespace

std::span<const CountInfo> count_infos() {
  return kInfos;
}

const char* name_of(Count which) {
  return kInfos[static_cast<std::size_t>(which)].name;
}

void ConduitCounters::add_to(Counts& counts) const {
  counts.add(Count::messages, messages);
  counts.add(Count::transfers, transfers);
  counts.add(Count::payload_bytes, payload_bytes);
  counts.add(Count::stalls, stalls);
}

}  // namespace gasmeter::conduit

#include "gasmeter/networks/portals/portals.hpp"

#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/networks/portals/portals_network.hpp"

namespace gasmeter::networks::portals {

using conduit::PrivatePrice;
using conduit::SharedPrice;

namespace {

std::string text_of(Rank rank) {
  return "rank " + std::to_string(index(rank));
}

bool is_start_at_target(EventType type) {
  return type == EventType::put_start || type == EventType::get_start;
}

bool is_start(EventType type) {
  return type == EventType::send_start || type == EventType::reply_start || is_start_at_target(type);
}

bool is_end(EventType type) {
  return type == EventType::send_end || type == EventType::put_end || type == EventType::get_end ||
         type == EventType::reply_end;
}

}  // namespace

Portals::Portals(PortalsNetwork& network, sim::ModelHost host) : network_(network), host_(host), table_(host.rank()) {}

const PortalsParameters& Portals::parameters() const {
  return network_.parameters();
}

// ---- event queues

const Portals::Queue& Portals::queue(EqHandle queue) const {
  if (queue.place < queues_.size()) {
    const Queue& entry = *queues_[queue.place];
    if (entry.exists && entry.generation == queue.generation) return entry;
  }
  throw UsageError("portals: " + text_of(rank()) + " names an event queue that does not exist or is gone");
}

EqHandle Portals::eq_alloc(std::uint32_t events, const char* name) {
  if (events == 0)
    throw UsageError("portals: " + text_of(rank()) + "'s event queue of 0 events; 1 or more are allowed");
  host_.charge(PrivatePrice::system_call);
  std::uint32_t place = 0;
  while (place < queues_.size() && queues_[place]->exists) ++place;
  if (place == queues_.size()) queues_.push_back(std::make_unique<Queue>(network_.engine(), host_.node(), rank()));
  Queue& entry = *queues_[place];
  entry.most = events;
  entry.exists = true;
  entry.name = name;
  entries_ += events;
  return {place, entry.generation};
}

void Portals::eq_free(EqHandle handle) {
  Queue& gone = queue(handle);
  host_.charge(PrivatePrice::system_call);
  host_.synchronise();
  while (!gone.events.empty()) (void)gone.events.take();
  gone.exists = false;
  ++gone.generation;
  entries_ -= gone.most;
}

std::optional<Event> Portals::eq_get(EqHandle handle) {
  Queue& from = queue(handle);
  host_.synchronise();
  if (from.events.empty()) return std::nullopt;
  const Event event = from.events.take();
  host_.spend(parameters().eq_event, sim::Step::poll);
  return event;
}

bool Portals::is_empty(EqHandle handle) const {
  return queue(handle).events.empty();
}

void Portals::matched(MdHandle md) {
  const MemoryDescriptor& descriptor = table_.descriptor(md);
  if (descriptor.events && !descriptor.no_start_events) ++queue(descriptor.events).coming;
}

// Software that finds no event, and then makes a descriptor accept messages, must not miss an event that is written in
// between.
bool Portals::has_news(EqHandle handle) const {
  return handle && (!is_empty(handle) || queue(handle).coming != 0);
}

void Portals::tell(MdHandle md, Event event, SimTime now) {
  const MemoryDescriptor& descriptor = table_.descriptor(md);
  if (!descriptor.events || (descriptor.no_start_events && is_start(event.type)) ||
      (descriptor.no_end_events && is_end(event.type))) {
    return;
  }
  Queue& to = queue(descriptor.events);
  if (is_start_at_target(event.type)) --to.coming;
  if (to.events.size() >= to.most) {
    throw BrokenJob("portals: " + text_of(rank()) + "'s event queue " + std::to_string(descriptor.events.place) +
                    " of " + std::to_string(to.most) + " events overflows with " + name_of(event.type) + " of " +
                    text_of(event.initiator));
  }
  event.md = md;
  event.user = descriptor.user;
  to.events.write_now(event, now);
}

void Portals::end(MdHandle md, SimTime now) {
  table_.end(md);
  settle(md, now);
}

void Portals::settle(MdHandle md, SimTime now) {
  if (!table_.is_over(md)) return;
  tell(md, {.type = EventType::unlink, .initiator = rank()}, now);
  table_.take(md);
}

// ---- match entries

MeHandle Portals::me_attach(std::uint32_t portal, const MatchEntry& entry, Position position) {
  host_.charge(PrivatePrice::system_call);
  host_.synchronise();
  return table_.attach(portal, entry, position);
}

MeHandle Portals::me_insert(MeHandle beside, const MatchEntry& entry, Position position) {
  host_.charge(PrivatePrice::system_call);
  host_.synchronise();
  return table_.insert(beside, entry, position);
}

bool Portals::me_unlink(MeHandle entry) {
  host_.charge(PrivatePrice::system_call);
  host_.synchronise();
  const MdHandle md = table_.descriptor_of(entry);
  const bool pays = table_.exists(md) && !table_.unlinks(md);
  const Bytes length = pays ? table_.descriptor(md).length : 0;
  if (!table_.unlink(entry)) return false;
  if (pays) host_.charge_shared(SharedPrice::deregistration, conduit::whole_pages(length));
  return true;
}

// ---- memory descriptors

void Portals::check_descriptor(const MemoryDescriptor& descriptor) const {
  if (descriptor.start == nullptr && descriptor.length != 0) {
    throw UsageError("portals: " + text_of(rank()) + "'s memory descriptor of " + std::to_string(descriptor.length) +
                     " bytes has no address; one is needed");
  }
  if (descriptor.most > descriptor.length) {
    throw UsageError("portals: " + text_of(rank()) + "'s memory descriptor of " + std::to_string(descriptor.length) +
                     " bytes for operations of " + std::to_string(descriptor.most) + "; at most its length is allowed");
  }
  if (descriptor.events) (void)queue(descriptor.events);
}

// The price depends on the whole pages of the length, not on the address: the same program costs the same in every
// process.
void Portals::pay_for(const MemoryDescriptor& descriptor, Unlink unlink) {
  check_descriptor(descriptor);
  const Bytes pages = conduit::whole_pages(descriptor.length);
  host_.charge_shared(SharedPrice::registration, pages);
  if (unlink == Unlink::unlink) host_.charge_shared(SharedPrice::deregistration, pages);
  host_.synchronise();
}

MdHandle Portals::md_attach(MeHandle entry, const MemoryDescriptor& descriptor, Unlink unlink) {
  pay_for(descriptor, unlink);
  return table_.attach(entry, descriptor, unlink);
}

MdHandle Portals::md_bind(const MemoryDescriptor& descriptor, Unlink unlink) {
  pay_for(descriptor, unlink);
  return table_.bind(descriptor, unlink);
}

bool Portals::md_unlink(MdHandle md) {
  host_.synchronise();
  const Bytes length = table_.descriptor(md).length;
  const bool pays = !table_.unlinks(md);
  if (!table_.unlink(md)) {
    host_.charge(PrivatePrice::system_call);
    return false;
  }
  if (pays) host_.charge_shared(SharedPrice::deregistration, conduit::whole_pages(length));
  return true;
}

// The queue is checked when the descriptor changes, after the update has been paid for.
bool Portals::md_update(MdHandle md, const MemoryDescriptor& descriptor, EqHandle queue) {
  host_.synchronise();
  if (has_news(queue) || !table_.may_update(md)) {
    host_.charge(PrivatePrice::system_call);
    return false;
  }
  const bool paid = table_.unlinks(md);
  if (!paid) host_.charge_shared(SharedPrice::deregistration, conduit::whole_pages(table_.descriptor(md).length));
  pay_for(descriptor, paid ? Unlink::unlink : Unlink::retain);
  return !has_news(queue) && table_.update(md, descriptor);
}

// ---- operations

void Portals::put(MdHandle md, Bytes offset, Bytes bytes, Ack ack, const Target& target, std::uint64_t header_data) {
  begin(OperationKind::put, md, offset, bytes, ack, target, header_data);
}

void Portals::get(MdHandle md, Bytes offset, Bytes bytes, const Target& target) {
  begin(OperationKind::get, md, offset, bytes, Ack::none, target, 0);
}

void Portals::begin(OperationKind kind, MdHandle md, Bytes offset, Bytes bytes, Ack ack, const Target& target,
                    std::uint64_t header_data) {
  const char* const name = kind == OperationKind::put ? "put" : "get";
  if (index(target.rank) >= network_.engine().ranks()) {
    throw UsageError("portals: " + text_of(target.rank) + " does not exist; there are " +
                     std::to_string(network_.engine().ranks()));
  }
  if (target.portal >= kPortals) {
    throw UsageError("portals: " + text_of(rank()) + "'s " + name + " to portal " + std::to_string(target.portal) +
                     "; 0.." + std::to_string(kPortals - 1) + " are allowed");
  }
  host_.spend(parameters().call);
  host_.synchronise();  // commands of the node's ranks reach the card in order of time
  const MemoryDescriptor& descriptor = table_.descriptor(md);
  if (offset > descriptor.length || bytes > descriptor.length - offset) {
    throw UsageError("portals: " + text_of(rank()) + "'s " + name + " of " + std::to_string(bytes) + " bytes at " +
                     std::to_string(offset) + " of a memory descriptor of " + std::to_string(descriptor.length) +
                     "; it has to lie within");
  }
  if (!table_.begin(md)) {
    throw UsageError("portals: " + text_of(rank()) + "'s " + name +
                     " from a memory descriptor whose threshold is used up; 1 or more is needed");
  }
  SeaStar& card = network_.card(host_.node());
  HeaderPacket& header = card.take_header();
  const bool is_put = kind == OperationKind::put;
  header.kind = static_cast<std::uint8_t>(is_put ? PacketKind::put : PacketKind::get) & 0x7fU;
  header.operation = {.kind = kind,
                      .portal = target.portal,
                      .source = rank(),
                      .match_bits = target.match_bits,
                      .remote_offset = target.offset,
                      .length = bytes};
  header.target = target.rank;
  header.header_data = header_data;
  header.initiator_md = md;
  header.initiator_offset = offset;
  header.wants_ack = ack == Ack::wanted;
  ++(is_put ? counters_.puts : counters_.gets);
  const Event end = {.type = EventType::send_end,
                     .initiator = rank(),
                     .portal = target.portal,
                     .match_bits = target.match_bits,
                     .requested = bytes,
                     .manipulated = bytes,
                     .offset = offset,
                     .header_data = header_data};
  // A get's descriptor is in use until the reply has come, even if the target drops the request.
  const bool at_once =
      is_put ? card.transmitter().command(header, descriptor.start + offset, bytes, rank(), md, end, host_.now())
             : card.transmitter().command(header, nullptr, 0, rank(), {}, {}, host_.now());
  if (!at_once) ++counters_.waited;
}

}  // namespace gasmeter::networks::portals

#include "gasmeter/networks/portals/portals_mpi.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::portals {

using conduit::PrivatePrice;
using services::SendState;
using services::Tag;

namespace {

// Match bits, from the top: a bit for long messages, the source, the tag.
constexpr std::uint64_t kLong = std::uint64_t{1} << 63U;
constexpr unsigned kSourceAt = 32;
constexpr std::uint64_t kTagBits = 0xffffffffU;
constexpr std::uint64_t kSourceBits = ~(kLong | kTagBits);

std::uint64_t bits_of(Rank source, Tag tag) {
  return std::uint64_t{index(source)} << kSourceAt | static_cast<std::uint32_t>(tag);
}

// A descriptor's user pointer holds the number of its buffer, receive or send.
void* user_of(std::uint32_t number) {
  return reinterpret_cast<void*>(std::uintptr_t{number});
}
std::uint32_t number_of(const Event& event) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(event.user));
}

PortalsMpiSizes checked(const PortalsMpiSizes& sizes, Bytes eager) {
  if (sizes.overflow_buffers < 2 || eager > sizes.overflow_buffer) {
    throw UsageError("portals: mpi.eager of " + std::to_string(eager) + " with " +
                     std::to_string(sizes.overflow_buffers) + " overflow buffers of " +
                     std::to_string(sizes.overflow_buffer) +
                     " bytes; at most that, and 2 buffers or more, are allowed");
  }
  if (sizes.most_sends + 2 > sizes.own_events) {
    throw UsageError("portals: " + std::to_string(sizes.most_sends) + " sends and an event queue of " +
                     std::to_string(sizes.own_events) + "; 2 events more than sends are needed");
  }
  return sizes;
}

}  // namespace

bool PortalsMpi::Envelope::is_long() const {
  return (bits & kLong) != 0;
}
Rank PortalsMpi::Envelope::source() const {
  return Rank{static_cast<std::uint32_t>((bits & kSourceBits) >> kSourceAt)};
}
Tag PortalsMpi::Envelope::tag() const {
  return Tag{static_cast<std::uint32_t>(bits & kTagBits)};
}

PortalsMpi::PortalsMpi(Portals& portals, sim::ModelHost host, const PortalsMpiSizes& sizes)
    : portals_(portals),
      host_(host),
      sizes_(checked(sizes, portals.parameters().mpi_eager)),
      limits_{portals.parameters().mpi_eager, sizes.most_sends},
      own_(portals.eq_alloc(sizes.own_events, "own messages")),
      others_(portals.eq_alloc(sizes.unexpected_events, "unexpected messages")),
      bare_(portals.md_bind({.no_start_events = true, .no_end_events = true, .name = "no payload"})),
      first_(portals.me_attach(kPortal, {})),
      last_(portals.me_attach(kPortal, {.ignore = ~std::uint64_t{0}, .unlink = Unlink::retain})),
      memory_("portals", sizes.overflow_buffers, sizes.overflow_buffer),
      overflow_(sizes.overflow_buffers),
      fetched_(sizes.most_sends) {
  (void)portals_.md_attach(last_, {.put = true,
                                   .truncate = true,
                                   .no_ack = true,
                                   .events = others_,
                                   .user = user_of(kNone),
                                   .name = "long messages"});
  for (std::uint32_t i = 0; i < sizes_.overflow_buffers; ++i) provide(i);
  if (miss().ps != 0) host_.price_misses(miss());
}

// Unlink the receives, whose memory goes now. No time is charged any more.
PortalsMpi::~PortalsMpi() {
  for (const Receive& receive : receives_) {
    if (portals_.table().exists(receive.entry)) (void)portals_.table().unlink(receive.entry);
  }
}

// ---- sending

SendState PortalsMpi::send(std::uint32_t number, Rank to, Tag tag, std::span<const std::byte> bytes) {
  services::check_length(bytes.size());
  host_.charge(PrivatePrice::two_sided);
  const Target target = {.rank = to, .portal = kPortal, .match_bits = bits_of(portals_.rank(), tag)};
  if (bytes.empty()) {
    portals_.put(bare_, 0, 0, Ack::none, target);
    return SendState::done;
  }
  // The library only reads this memory.
  MemoryDescriptor memory = {.start = const_cast<std::byte*>(bytes.data()),
                             .length = bytes.size(),
                             .threshold = 1,
                             .no_start_events = true,
                             .events = own_,
                             .user = user_of(number),
                             .name = "message"};
  if (bytes.size() <= limits_.eager) {
    portals_.put(portals_.md_bind(memory), 0, bytes.size(), Ack::none, target);
    return SendState::under_way;
  }
  memory.get = true;
  fetched_[number] = portals_.me_attach(kFetchedPortal, {.match = number, .source = to});
  (void)portals_.md_attach(fetched_[number], memory);
  Target announced = target;
  announced.match_bits |= kLong;
  portals_.put(bare_, 0, 0, Ack::none, announced, std::uint64_t{bytes.size()} << 32U | number);
  return SendState::under_way;
}

// ---- receives

void PortalsMpi::post(std::uint32_t slot, std::span<std::byte> buffer, std::optional<Rank> source,
                      std::optional<Tag> tag) {
  if (slot >= receives_.size()) receives_.resize(slot + std::size_t{1});
  const std::uint64_t ignore = kLong | (source ? 0 : kSourceBits) | (tag ? 0 : kTagBits);
  receives_[slot] = {.buffer = buffer,
                     .match = bits_of(source.value_or(Rank{}), tag.value_or(Tag{})),
                     .ignore = ignore,
                     .entry = {},
                     .envelope = {}};
  restart(slot);
}

// Take all events first. Then add the entry with a descriptor that takes nothing yet. The update makes it take one
// message if no message has arrived meanwhile, since such a message may be for this receive.
void PortalsMpi::restart(std::uint32_t slot) {
  while (take_event()) {
  }
  const std::uint32_t most = (sizes_.own_events - sizes_.most_sends) / 2;
  if (engaged_ == most) {
    throw UsageError("portals: rank " + std::to_string(index(portals_.rank())) + " posts receive " +
                     std::to_string(most + 1) + "; an event queue of " + std::to_string(sizes_.own_events) +
                     " events is good for " + std::to_string(most) + " and " + std::to_string(sizes_.most_sends) +
                     " sends");
  }
  if (take_unexpected(slot)) return;
  Receive& receive = receives_[slot];
  receive.entry = portals_.me_insert(first_, {.match = receive.match, .ignore = receive.ignore}, Position::before);
  // The descriptor covers no bytes, so that pages are paid for once.
  const MdHandle md = portals_.md_attach(receive.entry, {.threshold = 0}, Unlink::unlink);
  const MemoryDescriptor message = {.start = receive.buffer.data(),
                                    .length = receive.buffer.size(),
                                    .threshold = 1,
                                    .put = true,
                                    .remote_offset = true,
                                    .truncate = true,
                                    .no_ack = true,
                                    .no_start_events = true,
                                    .events = own_,
                                    .user = user_of(slot),
                                    .name = "receive"};
  while (!portals_.md_update(md, message, others_)) {
    // A message has matched and has no event yet.
    if (!take_event()) host_.idle(kNever);
    while (take_event()) {
    }
    if (!take_unexpected(slot)) continue;
    ++counters_.raced;
    (void)portals_.me_unlink(receives_[slot].entry);
    return;
  }
  ++engaged_;
}

// Take the earliest unexpected message that the receive matches. Return false if there is none.
bool PortalsMpi::take_unexpected(std::uint32_t slot) {
  const Receive& receive = receives_[slot];
  const auto place = std::find_if(unexpected_.begin(), unexpected_.end(), [&receive](const Unexpected& message) {
    return ((message.envelope.bits ^ receive.match) & ~receive.ignore) == 0;
  });
  const bool is_found = place != unexpected_.end();
  const auto looked_at = static_cast<std::uint64_t>(place - unexpected_.begin()) + (is_found ? 1 : 0);
  counters_.looked_at += looked_at;
  if (looked_at != 0) host_.charge(PrivatePrice::match, looked_at);
  if (!is_found) return false;
  Unexpected message = *place;
  unexpected_.erase(place);
  message.slot = slot;
  ++engaged_;
  matched(slot, message.envelope, message.envelope.is_long() ? message.envelope.long_bytes() : message.bytes);
  if (message.is_complete) {
    hand_over(message);
  } else {
    claimed_.push_back(message);
  }
  return true;
}

void PortalsMpi::matched(std::uint32_t slot, const Envelope& envelope, Bytes bytes) {
  Receive& receive = receives_[slot];
  services::check_room(bytes, envelope.source(), envelope.tag(), receive.buffer.size());
  host_.charge(PrivatePrice::two_sided);
  receive.envelope = envelope;
  receive.bytes = bytes;
}

// Get a long message into the receive's memory, from the entry that its sender has left for it.
void PortalsMpi::fetch(std::uint32_t slot) {
  const Receive& receive = receives_[slot];
  ++counters_.fetched;
  const MdHandle md = portals_.md_bind({.start = receive.buffer.data(),
                                        .length = receive.bytes,
                                        .threshold = 1,
                                        .no_start_events = true,
                                        .events = own_,
                                        .user = user_of(slot),
                                        .name = "fetch"});
  portals_.get(md, 0, receive.bytes,
               {.rank = receive.envelope.source(), .portal = kFetchedPortal, .match_bits = receive.envelope.number()});
}

void PortalsMpi::received(std::uint32_t slot) {
  --engaged_;
  done_.push_back({slot, false});
}

// ---- events

unsigned PortalsMpi::test_some(Sink& sink, unsigned budget) {
  unsigned handed = 0;
  while (handed < budget) {
    if (done_.empty()) {
      if (!take_event()) break;
      continue;
    }
    const Done done = done_.front();
    done_.pop_front();
    ++handed;
    if (done.is_send) {
      sink.sent(done.which);
    } else {
      const Receive& receive = receives_[done.which];
      sink.received(done.which, receive.envelope.source(), receive.envelope.tag(), receive.bytes);
    }
  }
  return handed;
}

// Return false if both queues are empty. The poll pays for that.
bool PortalsMpi::take_event() {
  host_.synchronise();
  if (!portals_.is_empty(own_)) {
    take_own(*portals_.eq_get(own_));
    return true;
  }
  if (portals_.is_empty(others_)) return false;
  host_.spend(portals_.parameters().eq_empty, sim::Step::poll);
  const std::optional<Event> event = portals_.eq_get(others_);
  take_others(*event);
  return true;
}

void PortalsMpi::take_own(const Event& event) {
  const std::uint32_t which = number_of(event);
  switch (event.type) {
    case EventType::send_end:
      (void)portals_.md_unlink(event.md);
      done_.push_back({which, true});
      break;
    case EventType::get_end:
      (void)portals_.me_unlink(fetched_[which]);
      done_.push_back({which, true});
      break;
    case EventType::put_end: {
      const Envelope envelope = {event.match_bits, event.header_data};
      ++counters_.expected;
      matched(which, envelope, envelope.is_long() ? envelope.long_bytes() : event.requested);
      envelope.is_long() ? fetch(which) : received(which);
      break;
    }
    case EventType::reply_end:
      (void)portals_.md_unlink(event.md);
      received(which);
      break;
    default:
      break;  // a receive's descriptor is gone
  }
}

void PortalsMpi::take_others(const Event& event) {
  const std::uint32_t buffer = number_of(event);
  switch (event.type) {
    case EventType::put_start:
      begun(event, buffer);
      break;
    case EventType::put_end:
      ended(event, buffer);
      break;
    default:  // the buffer is full and has left the list
      overflow_[buffer].is_used_up = true;
      provide_again(buffer);
      break;
  }
}

void PortalsMpi::begun(const Event& event, std::uint32_t buffer) {
  const Envelope envelope = {event.match_bits, event.header_data};
  if (buffer == kNone && !envelope.is_long()) refuse(event);
  ++counters_.unexpected;
  if (buffer != kNone) ++overflow_[buffer].held;
  unexpected_.push_back({.envelope = envelope, .bytes = event.requested, .offset = event.offset, .buffer = buffer});
  counters_.most_waiting = std::max<std::uint64_t>(counters_.most_waiting, unexpected_.size());
}

// If several messages have equal fields, they have equal contents, so that a mix-up does no harm.
void PortalsMpi::ended(const Event& event, std::uint32_t buffer) {
  const auto is_it = [&event, buffer](const Unexpected& message) {
    return !message.is_complete && message.buffer == buffer && message.offset == event.offset &&
           message.bytes == event.requested && message.envelope.bits == event.match_bits &&
           message.envelope.data == event.header_data;
  };
  const auto claimed = std::find_if(claimed_.begin(), claimed_.end(), is_it);
  if (claimed != claimed_.end()) {
    const Unexpected message = *claimed;
    claimed_.erase(claimed);
    return hand_over(message);
  }
  std::find_if(unexpected_.begin(), unexpected_.end(), is_it)->is_complete = true;
}

void PortalsMpi::refuse(const Event& event) const {
  const Envelope envelope = {event.match_bits, 0};
  throw BrokenJob("portals: rank " + std::to_string(index(portals_.rank())) + " has no room for a message of " +
                  std::to_string(event.requested) + " bytes from rank " + std::to_string(index(envelope.source())) +
                  " with tag " + std::to_string(static_cast<std::uint32_t>(envelope.tag())) + ": its " +
                  std::to_string(sizes_.overflow_buffers) + " overflow buffers of " +
                  std::to_string(sizes_.overflow_buffer) + " bytes hold messages that nobody has received");
}

// ---- overflow buffers

// Add a buffer behind the others. The buffer leaves the list when a message might not fit any more.
void PortalsMpi::provide(std::uint32_t buffer) {
  overflow_[buffer].is_used_up = false;
  const MeHandle entry = portals_.me_insert(last_, {.ignore = ~kLong}, Position::before);
  (void)portals_.md_attach(entry,
                           {.start = memory_.at(buffer),
                            .length = sizes_.overflow_buffer,
                            .put = true,
                            .no_ack = true,
                            .most = limits_.eager,
                            .events = others_,
                            .user = user_of(buffer),
                            .name = "overflow buffer"},
                           Unlink::unlink);
}

// Provide a buffer again, once all its messages have been copied out.
void PortalsMpi::provide_again(std::uint32_t buffer) {
  if (overflow_[buffer].held != 0 || !overflow_[buffer].is_used_up) return;
  ++counters_.provided;
  provide(buffer);
}

// Pass a complete message to the receive that has claimed it.
void PortalsMpi::hand_over(const Unexpected& message) {
  if (message.envelope.is_long()) return fetch(message.slot);
  if (message.bytes != 0) {
    host_.synchronise();  // node mates may see the destination
    host_.copy(receives_[message.slot].buffer.data(), memory_.at(message.buffer) + message.offset, message.bytes);
  }
  --overflow_[message.buffer].held;
  provide_again(message.buffer);
  received(message.slot);
}

Bytes PortalsMpi::reserved_bytes() const {
  return sizes_.overflow_buffers * sizes_.overflow_buffer +
         (Bytes{sizes_.own_events} + sizes_.unexpected_events) * kEventEntry;
}

}  // namespace gasmeter::networks::portals

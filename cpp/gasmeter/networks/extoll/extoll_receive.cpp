// The receiving half of the conduit.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/extoll/extoll_conduit.hpp"
#include "gasmeter/networks/extoll/extoll_network.hpp"
#include "gasmeter/services/card_ams.hpp"

namespace gasmeter::networks::extoll {

using conduit::AmView;
using conduit::Category;
using conduit::Delivery;
using conduit::PollFilter;

unsigned ExtollConduit::poll(Delivery& sink, unsigned budget, PollFilter filter) {
  unsigned handed = done_.report(sink, budget);
  locked_ = false;
  news_ = false;
  if (!outbox_.empty() && push_outbox()) news_ = true;
  if (options_.node_by_memory) {
    host_.synchronise();
  } else {
    port_.await_rma();
  }
  while (port_.has_notification()) take_notification();
  handed += done_.report(sink, budget - handed);
  while (handed < budget) {
    if (Message* const ready = next_ready(filter)) {
      deliver(sink, *ready);
      ++handed;
      continue;
    }
    if (options_.node_by_memory) {
      if (const std::optional<Message*> message = near_.take(host_)) {
        handed += take_near(**message, sink, filter) ? 1U : 0U;
        continue;
      }
    }
    const VeloPacket* const packet = port_.mailbox_next();
    if (packet == nullptr) break;
    handed += take_packet(*packet, &sink, filter) ? 1U : 0U;
  }
  if (!creditors_.empty()) return_credits();
  return services::poll_result(handed, news_);
}

bool ExtollConduit::polls_in_vain() {
  if (!host_.runs_ahead() || port_.has_mail() || port_.has_notification() || near_.has(host_.rank())) return false;
  if (!done_.empty() || !outbox_.empty() || !creditors_.empty()) return false;
  if (!ready_requests_.empty() || !ready_replies_.empty()) return false;
  locked_ = false;
  news_ = false;
  host_.leave_poll_out();
  return true;
}

// ---- payloads of Longs

void ExtollConduit::take_notification() {
  const auto notification = port_.notification_next();
  switch (notification->kind) {
    case Notification::Kind::requester:
      sent_from(notification->address);
      return;
    case Notification::Kind::completer:
      if (read_back_.holds(notification->address)) {
        put_done(read_back_.number_of(notification->address));
      } else {
        landed(notification->peer, notification->address, notification->size);
      }
      return;
    case Notification::Kind::responder:
    case Notification::Kind::dropped:
      break;
  }
  throw UsageError("extoll: rank " + std::to_string(index(port_.rank())) + " gets a notification of rank " +
                   std::to_string(index(notification->peer)) + " that the conduit has not asked for");
}

// The card reads the sources of a rank in the order of its commands.
void ExtollConduit::sent_from(const std::byte* address) {
  news_ = true;
  if (bounce_.holds(address)) {
    bounce_.give(bounce_.number_of(address));
    return;
  }
  done_.add(leaves_.front());
  leaves_.pop_front();
}

void ExtollConduit::put_done(std::uint32_t which) {
  done_.add(roots_[which]);
  read_back_.give(which);
  news_ = true;
}

// Puts of a pair arrive in order, and so do headers. Therefore the n-th put belongs to the n-th header.
void ExtollConduit::landed(Rank from, void* destination, Bytes size) {
  Source& source = sources_[index(from)];
  if (!source.longs.empty()) {
    Message& message = *source.longs.pop();
    message.destination = destination;
    (message.header.is_reply != 0 ? ready_replies_ : ready_requests_).push(&message);
    return;
  }
  Message& waits = store_.take(0);
  waits.destination = destination;
  waits.header.size = static_cast<std::uint32_t>(size);
  source.landed.push(&waits);
}

// ---- packets

// Take a packet from the mailbox. Return true if a message was handed over, which needs a sink.
bool ExtollConduit::take_packet(const VeloPacket& packet, Delivery* sink, PollFilter filter) {
  if (options_.lock == AmOptions::Lock::packet || (options_.lock == AmOptions::Lock::message && !locked_)) {
    host_.charge(conduit::PrivatePrice::own_lock);
    locked_ = true;
  }
  if (static_cast<Section>(packet.status.tag) == Section::credits) {
    take_credits(packet);
    return false;
  }
  if (static_cast<Section>(packet.status.tag) == Section::header && options_.in_place && sink != nullptr) {
    WireHeader header;
    std::memcpy(&header, packet.payload.data(), sizeof header);
    const bool whole = packet.status.size == sizeof header + header.argument_bytes() + header.data_bytes();
    const bool wanted = filter == PollFilter::everything || header.is_reply != 0;
    if (whole && wanted && header.kind() != Category::long_message) {
      deliver_in_place(*sink, packet, header);
      return true;
    }
  }
  append(packet);
  return false;
}

void ExtollConduit::take_credits(const VeloPacket& packet) {
  std::uint32_t count = 0;
  host_.copy(&count, packet.payload.data(), sizeof count);
  flows_[index(packet.status.source)].under_way -= count;
  port_.mailbox_free();
  news_ = true;
}

// The handler's call loads the arguments, and a payload is copied to where it is aligned. The slot is free before the
// handler runs: the handler may wait for room for a reply and take further packets meanwhile.
void ExtollConduit::deliver_in_place(Delivery& sink, const VeloPacket& packet, const WireHeader& header) {
  const Rank source = packet.status.source;
  const std::byte* const after = packet.payload.data() + sizeof header;
  if (header.kind() == Category::medium) return deliver_medium(sink, packet, header);
  // Copy as much as a packet may hold. The size is then a constant, and a call for the true size costs more.
  std::array<std::int32_t, (kVeloPayload - sizeof header) / sizeof(std::int32_t)> arguments;
  std::memcpy(arguments.data(), after, sizeof arguments);
  port_.mailbox_free();
  hand_over(sink, header, source, arguments.data(), nullptr);
}

GASMETER_NOINLINE void ExtollConduit::deliver_medium(Delivery& sink, const VeloPacket& packet,
                                                     const WireHeader& header) {
  const std::byte* const after = packet.payload.data() + sizeof header;
  Message& message = store_.take(header.size);
  message.header = header;
  message.source = packet.status.source;
  std::memcpy(message.arguments.data(), after, header.argument_bytes());
  if (header.size != 0) host_.copy(message.data(), after + header.argument_bytes(), header.size);
  port_.mailbox_free();
  deliver(sink, message);
}

// Copy a packet out of its slot into its message.
void ExtollConduit::append(const VeloPacket& packet) {
  std::array<std::byte, kVeloPayload> copy;
  host_.copy(copy.data(), packet.payload.data(), packet.status.size);
  std::span<const std::byte> bytes = std::span(copy).first(packet.status.size);
  const Rank from = packet.status.source;
  Source* source = nullptr;
  Message* message = nullptr;
  if (static_cast<Section>(packet.status.tag) == Section::header) {
    WireHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    bytes = bytes.subspan(sizeof header);
    message = &store_.take(header.data_bytes());
    message->header = header;
    message->source = from;
    message->arguments_missing = header.argument_bytes();
    message->data_missing = header.data_bytes();
  } else {
    source = &sources_[index(from)];
    message = source->partial;
  }
  port_.mailbox_free();
  message->append(bytes);
  if (message->complete()) {
    if (source != nullptr) {
      source->partial = nullptr;
      --partial_;
    }
    keep(message);
  } else if (source == nullptr) {
    sources_[index(from)].partial = message;
    most_partial_ = std::max(most_partial_, ++partial_);
  }
}

// Keep a message that VELO has brought completely. The message is ready unless the payload of a Long is missing.
void ExtollConduit::keep(Message* message) {
  if (message->header.kind() == Category::long_message) {
    if (message->header.size == 0) {
      std::uint64_t destination = 0;
      std::memcpy(&destination, message->data(), sizeof destination);
      message->destination = reinterpret_cast<void*>(static_cast<std::uintptr_t>(destination));
    } else {
      Source& source = sources_[index(message->source)];
      if (source.landed.empty()) {
        source.longs.push(message);
        return;
      }
      Message& landed = *source.landed.pop();
      message->destination = landed.destination;
      store_.give(landed);
    }
  }
  (message->header.is_reply != 0 ? ready_replies_ : ready_requests_).push(message);
}

Message* ExtollConduit::next_ready(PollFilter filter) {
  if (!ready_replies_.empty()) return ready_replies_.pop();
  if (filter == PollFilter::everything && !ready_requests_.empty()) return ready_requests_.pop();
  return nullptr;
}

// ---- from ranks of the node

// Take a message of a node mate. Return true if it was handed over.
bool ExtollConduit::take_near(Message& message, Delivery& sink, PollFilter filter) {
  if (filter == PollFilter::replies_only && message.header.is_reply == 0) {
    ready_requests_.push(&message);
    return false;
  }
  deliver(sink, message);
  return true;
}

// ---- to the sink

void ExtollConduit::deliver(Delivery& sink, Message& message) {
  void* const payload = message.header.kind() == Category::medium         ? message.data()
                        : message.header.kind() == Category::long_message ? message.destination
                                                                          : nullptr;
  services::handle_then_free(
      [&] { hand_over(sink, message.header, message.source, message.arguments.data(), payload); },
      [&] { store_.give(message); });
}

void ExtollConduit::hand_over(Delivery& sink, const WireHeader& header, Rank source, const std::int32_t* arguments,
                              void* payload) {
  AmView view;
  view.source = source;
  view.category = header.kind();
  view.is_request = header.is_reply == 0;
  view.handler = header.handler;
  view.arguments = {arguments, header.arguments};
  view.payload = payload;
  view.size = header.kind() == Category::short_message ? 0 : header.size;
  if (view.is_request) handled(source);
  sink.arrived(view);
}

}  // namespace gasmeter::networks::extoll

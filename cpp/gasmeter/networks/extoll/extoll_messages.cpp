#include "gasmeter/networks/extoll/extoll_messages.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::extoll {

using services::MessageHead;
using services::PutWindow;

namespace {

// Tag of a packet: it begins a message, or continues one.
enum class Part : std::uint8_t { first, further };

}  // namespace

ExtollMessages::ExtollMessages(ExtollPort& port, sim::ModelHost host)
    : port_(port), host_(host), per_packet_(port.parameters().velo_payload) {
  if (per_packet_ < sizeof(MessageHead)) {
    throw UsageError("extoll: velo.payload of " + std::to_string(per_packet_) + "; two-sided messages need " +
                     std::to_string(sizeof(MessageHead)));
  }
  port_.hold_when_full();
}

// ---- sending

bool ExtollMessages::send(Rank to, const MessageHead& head, std::span<const std::byte> payload, std::uint32_t number) {
  host_.charge(conduit::PrivatePrice::header_build);
  if (outbox_.empty() && head.size() + payload.size() <= per_packet_ && port_.has_velo_room(1)) {
    Outgoing message{to, number, head, payload};
    store_packet(message);
    return true;
  }
  outbox_.push_back({to, number, head, payload});
  push_messages();
  // This message is last in the list, if it has gone completely. Earlier messages that went with it are still to be
  // reported.
  if (!outbox_.empty()) return false;
  if (number != kUntold) gone_.pop_back();
  return true;
}

// Send packets until none is left or the card has no room. Later messages wait behind the first that is left.
void ExtollMessages::push_messages() {
  while (!outbox_.empty()) {
    Outgoing& message = outbox_.front();
    while (message.left() != 0) {
      if (!port_.has_velo_room(1)) {
        const Bytes packets = (message.left() + per_packet_ - 1) / per_packet_;
        port_.wake_on_velo_room(static_cast<unsigned>(std::min<Bytes>(packets, ExtollPort::kWorthwhileSlots)));
        return;
      }
      store_packet(message);
    }
    if (message.number != kUntold) gone_.push_back(message.number);
    outbox_.pop_front();
  }
}

// The stores gather a packet from where its parts lie.
void ExtollMessages::store_packet(Outgoing& message) {
  std::array<std::byte, kVeloPayload> packet;
  const Bytes filled = std::min(message.left(), per_packet_);
  const Part part = message.at == 0 ? Part::first : Part::further;
  const Bytes of_head = part == Part::first ? message.head.size() : 0;
  if (of_head != 0) std::memcpy(packet.data(), &message.head, of_head);
  if (filled != of_head) {
    const Bytes from = message.at + of_head - message.head.size();
    std::memcpy(packet.data() + of_head, message.payload.data() + from, filled - of_head);
  }
  message.at += filled;
  (void)port_.velo_send(message.to, std::span(packet).first(filled), static_cast<std::uint8_t>(part));
}

// Windows for a rank are opened, announced, used and filled in one order: the order of its messages.
PutWindow ExtollMessages::open(Rank from, std::span<std::byte> memory, std::uint32_t receive) {
  windows_[index(from)].push_back(receive);
  return {reinterpret_cast<std::uintptr_t>(memory.data()), 0, receive};
}

void ExtollMessages::put(Rank to, const PutWindow& window, std::span<const std::byte> payload, std::uint32_t number) {
  auto* const remote = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(window.address));
  commands_.push_back({to, number, remote, payload});
  push_puts();
}

void ExtollMessages::push_puts() {
  while (!commands_.empty()) {
    const Put& next = commands_.front();
    if (port_.rma_put(next.to, next.remote, next.payload.data(), next.payload.size(),
                      Notify::requester | Notify::completer) != Status::ok) {
      return;  // the port wakes the rank when there is room
    }
    reading_.push_back(next.number);
    commands_.pop_front();
  }
}

// ---- receiving

bool ExtollMessages::progress(Sink& sink) {
  if (!outbox_.empty()) push_messages();
  if (!commands_.empty()) push_puts();
  if (!gone_.empty()) {
    const std::uint32_t number = gone_.front();
    gone_.pop_front();
    sink.sent(number);
    return true;
  }
  port_.await_rma();
  if (port_.has_notification()) {
    take_notification(sink);
    return true;
  }
  const VeloPacket* const packet = port_.mailbox_next();
  if (packet == nullptr) return false;
  take_packet(*packet, sink);
  return true;
}

// The card reads the puts of a rank in order, and the puts of a pair arrive in order.
void ExtollMessages::take_notification(Sink& sink) {
  const auto notification = port_.notification_next();
  if (notification->kind == Notification::Kind::requester) {
    const std::uint32_t number = reading_.front();
    reading_.pop_front();
    sink.sent(number);
    return;
  }
  if (notification->kind != Notification::Kind::completer) {
    throw UsageError("extoll: rank " + std::to_string(index(port_.rank())) + " gets a notification of rank " +
                     std::to_string(index(notification->peer)) + " that two-sided messages have not asked for");
  }
  std::deque<std::uint32_t>& windows = windows_[index(notification->peer)];
  const std::uint32_t receive = windows.front();
  windows.pop_front();
  sink.landed(notification->peer, receive);
}

// Packets of one source arrive in order. Packets of different sources interleave.
void ExtollMessages::take_packet(const VeloPacket& packet, Sink& sink) {
  const Rank source = packet.status.source;
  std::span<const std::byte> bytes = std::span(packet.payload).first(packet.status.size);
  Incoming message;
  if (static_cast<Part>(packet.status.tag) == Part::first) {
    MessageHead head;
    auto* const raw = reinterpret_cast<std::byte*>(&head);
    // The shortest head. Its kind tells the full size.
    std::memcpy(raw, bytes.data(), MessageHead::size_of(MessageHead::Kind::eager));
    std::memcpy(raw, bytes.data(), head.size());
    bytes = bytes.subspan(head.size());
    const Sink::Landing landing = sink.begun(source, head);
    message = {landing.to, head.payload(), landing.which};
  } else {
    message = incoming_.at(index(source));
  }
  if (!bytes.empty()) host_.copy(message.to, bytes.data(), bytes.size());
  port_.mailbox_free();
  message.to += bytes.size();
  message.left -= bytes.size();
  if (message.left != 0) {
    incoming_[index(source)] = message;
    return;
  }
  if (static_cast<Part>(packet.status.tag) == Part::further) incoming_.erase(index(source));
  sink.ended(source, message.which);
}

}  // namespace gasmeter::networks::extoll

#include "gasmeter/services/node_messages.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gasmeter::services {

bool NodeMessages::send(Rank to, const MessageHead& head, std::span<const std::byte> payload, std::uint32_t number) {
  host_.charge(conduit::PrivatePrice::header_build);
  outbox_.push_back({to, number, head, nullptr, payload});
  push();
  // A message sent at once is the last in gone_, as with cards, and its completion is not reported.
  if (!outbox_.empty()) return false;
  if (number != kUntold) gone_.pop_back();
  return true;
}

PutWindow NodeMessages::open(Rank /*from*/, std::span<std::byte> memory, std::uint32_t receive) {
  return {reinterpret_cast<std::uintptr_t>(memory.data()), 0, receive};
}

// Queue a put. The receiver's own core copies the fragments to their destination.
void NodeMessages::put(Rank to, const PutWindow& window, std::span<const std::byte> payload, std::uint32_t number) {
  MessageHead head;
  head.kind = MessageHead::Kind::clear;
  head.window = window;
  outbox_.push_back(
      {to, number, head, reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(window.address)), payload});
  push();
}

void NodeMessages::push() {
  while (!outbox_.empty()) {
    Outgoing& next = outbox_.front();
    do {
      if (!leave(next)) return;
    } while (!next.payload.empty());
    if (next.number != kUntold) gone_.push_back(next.number);
    outbox_.pop_front();
  }
}

// Leave one parcel. Return false if the box is full; then the rank will be notified.
bool NodeMessages::leave(Outgoing& next) {
  if (!boxes_.reserve(host_, next.to)) return false;
  MessageParcel parcel;
  parcel.source = host_.rank();
  parcel.head = next.head;
  parcel.to = next.destination;
  const Bytes bytes =
      next.destination == nullptr ? next.payload.size() : std::min<Bytes>(next.payload.size(), kFragment);
  parcel.payload.resize(bytes);
  if (bytes != 0) host_.copy(parcel.payload.data(), next.payload.data(), bytes);
  next.payload = next.payload.subspan(bytes);
  if (next.destination != nullptr) next.destination += bytes;
  parcel.last = next.payload.empty();
  boxes_.leave(host_, next.to, std::move(parcel));
  return true;
}

bool NodeMessages::progress(Sink& sink) {
  if (!outbox_.empty()) push();
  if (!gone_.empty()) {
    const std::uint32_t number = gone_.front();
    gone_.pop_front();
    sink.sent(number);
    return true;
  }
  const std::optional<MessageParcel> taken = boxes_.take(host_);
  if (!taken) return false;
  const MessageParcel& parcel = *taken;
  if (parcel.to != nullptr) {
    host_.copy(parcel.to, parcel.payload.data(), parcel.payload.size());
    if (parcel.last) sink.landed(parcel.source, parcel.head.window.receive);
    return true;
  }
  const Sink::Landing landing = sink.begun(parcel.source, parcel.head);
  if (!parcel.payload.empty()) host_.copy(landing.to, parcel.payload.data(), parcel.payload.size());
  sink.ended(parcel.source, landing.which);
  return true;
}

}  // namespace gasmeter::services

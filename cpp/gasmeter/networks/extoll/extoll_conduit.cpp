#include "gasmeter/networks/extoll/extoll_conduit.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/extoll/extoll_network.hpp"

namespace gasmeter::networks::extoll {

using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::AmView;
using conduit::Category;
using conduit::PollFilter;

namespace {

enum Tag : std::uint8_t {
  kFirst,   // header, arguments, as much payload as fits
  kMore,    // payload
  kCredit,  // a number of slots
};

// Packets of credits alone that may wait unread: one is sent for each half of a share.
constexpr unsigned kCreditPackets = 2;

struct WireHeader {
  std::uint8_t category : 2 = 0;
  std::uint8_t is_reply : 1 = 0;
  std::uint8_t arguments : 5 = 0;
  HandlerIndex handler{};
  std::uint16_t size = 0;     // of the payload
  std::uint32_t credits = 0;  // slots that the sender of this message has freed
};
static_assert(sizeof(WireHeader) == 8);

Bytes head_of(Category category, unsigned arguments) {
  return sizeof(WireHeader) + arguments * sizeof(std::int32_t) +
         (category == Category::long_message ? sizeof(std::uint64_t) : 0);
}
constexpr Bytes kMostHead = sizeof(WireHeader) + conduit::kMaxArguments * sizeof(std::int32_t) + sizeof(std::uint64_t);

}  // namespace

// Both sides keep a message in one piece, what comes before the payload right in front of it.
struct ExtollConduit::Message {
  static constexpr Bytes kPayloadAt =
      (kMostHead + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) * alignof(std::max_align_t);

  [[nodiscard]] std::byte* payload() { return bytes.data() + kPayloadAt; }
  [[nodiscard]] std::byte* head() {
    return payload() - head_of(static_cast<Category>(header.category), header.arguments);
  }

  WireHeader header;
  Rank source{};
  Bytes missing = 0;
  std::byte* next = nullptr;  // where the next packet's bytes go
  unsigned packets = 0;       // reserved for it
  alignas(std::max_align_t) std::array<std::byte, kPayloadAt + kMostPayload> bytes;
};

ExtollConduit::ExtollConduit(ExtollNetwork& network, sim::ModelHost host, Rank rank)
    : host_(host),
      port_(network.port(rank)),
      per_packet_(network.parameters().velo_payload),
      peers_(network.engine().ranks()) {
  const unsigned slots = port_.certain_slots() / network.engine().ranks();
  if (slots > kCreditPackets) share_ = slots - kCreditPackets;
  // A peer may owe all but half of the share and one packet, and wait for more before it says so.
  const Bytes room = std::min(share_ / 2 + 1, ExtollPort::kVeloSlots) * per_packet_;
  if (room <= kMostHead) {
    throw UsageError("extoll: a mailbox that takes " + std::to_string(port_.certain_slots()) + " packets for " +
                     std::to_string(network.engine().ranks()) + " ranks: each may fill " + std::to_string(slots) +
                     " of them, at least " + std::to_string(2 * (kMostHead / per_packet_) + kCreditPackets) +
                     " are needed; raise velo.mailbox_slots or run fewer ranks");
  }
  const Bytes most = std::min(kMostPayload, room - kMostHead);
  capabilities_.max_request_medium = most;
  capabilities_.max_reply_medium = most;
  capabilities_.max_request_long = most;
  capabilities_.max_reply_long = most;
  for (Peer& peer : peers_) peer.credits = share_;
}

ExtollConduit::~ExtollConduit() = default;

ExtollConduit::Message& ExtollConduit::take_message() {
  if (spare_.empty()) return messages_.emplace_back();
  Message& message = *spare_.back();
  spare_.pop_back();
  return message;
}

// ---- sending

unsigned ExtollConduit::packets_of(const AmHeader& header, Bytes bytes) const {
  return static_cast<unsigned>((head_of(header.category, header.arguments) + bytes + per_packet_ - 1) / per_packet_);
}

Status ExtollConduit::prepare(const AmHeader& header, const void* client, Bytes least, Bytes most, AmBuffer& out) {
  const Bytes largest = capabilities_.max_request_medium;
  if (least > largest || least > most || header.arguments > conduit::kMaxArguments) {
    throw UsageError("extoll: message of " + std::to_string(least) + " to " + std::to_string(most) + " bytes and " +
                     std::to_string(header.arguments) + " arguments; at most " + std::to_string(largest) +
                     " bytes and " + std::to_string(conduit::kMaxArguments) + " arguments fit");
  }
  const Bytes size = std::min(most, largest);
  const unsigned packets = packets_of(header, size);
  Peer& peer = peers_[index(header.peer)];
  if (peer.credits < packets) return Status::no_resource;  // those that come will wake
  if (port_.velo_room() < reserved_ + packets) {
    port_.wake_on_velo_room(reserved_ + packets);
    return Status::no_resource;
  }
  peer.credits -= packets;
  reserved_ += packets;
  Message& message = take_message();
  message.packets = packets;
  out.header = header;
  out.size = size;
  // The client fills its own memory until commit, which stores from there.
  out.data = client != nullptr ? const_cast<void*>(client) : message.payload();
  out.slot = reinterpret_cast<std::uintptr_t>(&message);
  return Status::ok;
}

void ExtollConduit::give_back(const AmBuffer& buffer, unsigned packets) {
  peers_[index(buffer.header.peer)].credits += packets;
}

void ExtollConduit::cancel(const AmBuffer& buffer) {
  auto* const message = reinterpret_cast<Message*>(static_cast<std::uintptr_t>(buffer.slot));
  reserved_ -= message->packets;
  give_back(buffer, message->packets);
  spare_.push_back(message);
}

Status ExtollConduit::commit(const AmBuffer& buffer, const AmCommit& commit, conduit::OperationId local) {
  auto* const message = reinterpret_cast<Message*>(static_cast<std::uintptr_t>(buffer.slot));
  host_.charge(conduit::PrivatePrice::header_build);
  Peer& peer = peers_[index(buffer.header.peer)];
  WireHeader& header = message->header;
  header.category = static_cast<std::uint8_t>(buffer.header.category) & 3U;
  header.is_reply = buffer.header.is_reply ? 1 : 0;
  header.arguments = buffer.header.arguments & 31U;
  header.handler = commit.handler;
  header.size = static_cast<std::uint16_t>(commit.size);
  header.credits = std::exchange(peer.owed, 0);
  std::byte* at = message->head();
  std::memcpy(at, &header, sizeof header);
  at += sizeof header;
  const Bytes arguments = buffer.header.arguments * sizeof(std::int32_t);
  if (arguments != 0) std::memcpy(at, commit.arguments.data(), arguments);
  if (buffer.header.category == Category::long_message) {
    const auto destination = std::uint64_t{reinterpret_cast<std::uintptr_t>(commit.destination)};
    std::memcpy(at + arguments, &destination, sizeof destination);
  }
  const unsigned packets = packets_of(buffer.header, commit.size);
  give_back(buffer, message->packets - packets);
  reserved_ -= message->packets;
  send_packets(buffer.header.peer, message->head(), static_cast<Bytes>(message->payload() - message->head()),
               static_cast<const std::byte*>(buffer.data), commit.size);
  spare_.push_back(message);
  local_done_.add(local);
  return Status::ok;
}

// The stores to the card gather a packet's bytes from where they lie.
void ExtollConduit::send_packets(Rank to, const std::byte* head, Bytes head_bytes, const std::byte* payload,
                                 Bytes bytes) {
  std::array<std::byte, kVeloPayload> packet{};
  std::uint8_t tag = kFirst;
  do {
    const Bytes of_head = std::min(head_bytes, per_packet_);
    const Bytes of_payload = std::min(bytes, per_packet_ - of_head);
    if (of_head != 0) std::memcpy(packet.data(), head, of_head);
    if (of_payload != 0) std::memcpy(packet.data() + of_head, payload, of_payload);
    send_one(to, std::span(packet).first(of_head + of_payload), tag);
    head += of_head;
    head_bytes -= of_head;
    payload += of_payload;
    bytes -= of_payload;
    tag = kMore;
  } while (head_bytes + bytes != 0);
}

// Of a packet for which there is room.
void ExtollConduit::send_one(Rank to, std::span<const std::byte> bytes, std::uint8_t tag) {
  if (port_.velo_send(to, bytes, tag) == Status::ok) return;
  throw UsageError("extoll: no room in the card for a packet that was prepared");
}

// ---- receiving

unsigned ExtollConduit::poll(conduit::Delivery& sink, unsigned budget, PollFilter filter) {
  unsigned handed = local_done_.report(sink, budget);
  news_ = false;
  while (handed < budget) {
    if (filter == PollFilter::everything && !deferred_.empty()) {
      Message& message = *deferred_.front();
      deferred_.pop_front();
      deliver(sink, message);
      ++handed;
      continue;
    }
    const VeloPacket* const packet = port_.mailbox_next();
    if (packet == nullptr) break;
    Message* const message = accept(*packet);
    if (message == nullptr) continue;
    if (filter == PollFilter::everything || message->header.is_reply != 0) {
      deliver(sink, *message);
      ++handed;
    } else {
      deferred_.push_back(message);
    }
  }
  pay_debts();
  refuse_drops();
  // A caller that waits for credits must not sleep beside those that have come.
  return handed == 0 && news_ ? 1 : handed;
}

// Copies a packet out of its slot, which is free then; returns the message that it completes.
ExtollConduit::Message* ExtollConduit::accept(const VeloPacket& packet) {
  const std::uint32_t source = index(packet.status.source);
  Peer& peer = peers_[source];
  if (packet.status.tag == kCredit) {
    std::uint32_t credits = 0;
    std::memcpy(&credits, packet.payload.data(), sizeof credits);
    peer.credits += credits;
    news_ = true;
    port_.mailbox_free();
    return nullptr;
  }
  if (packet.status.tag == kFirst) {
    peer.partial = &take_message();
    begin(*peer.partial, packet, peer);
  } else {
    host_.copy(peer.partial->next, packet.payload.data(), packet.status.size);
    peer.partial->next += packet.status.size;
    peer.partial->missing -= packet.status.size;
  }
  Message* const done = peer.partial->missing == 0 ? peer.partial : nullptr;
  port_.mailbox_free();
  ++peer.owed;
  if (2 * peer.owed >= share_ && !peer.listed) {
    peer.listed = true;
    debts_.push_back(source);
  }
  return done;
}

void ExtollConduit::begin(Message& message, const VeloPacket& packet, Peer& from) {
  std::memcpy(&message.header, packet.payload.data(), sizeof message.header);
  const Bytes rest = packet.status.size - sizeof message.header;
  if (rest != 0) {
    host_.copy(message.head() + sizeof message.header, packet.payload.data() + sizeof message.header, rest);
  }
  message.source = packet.status.source;
  message.next = message.head() + packet.status.size;
  message.missing = static_cast<Bytes>(message.payload() - message.next) + message.header.size;
  if (message.header.credits == 0) return;
  from.credits += message.header.credits;
  news_ = true;
}

void ExtollConduit::deliver(conduit::Delivery& sink, Message& message) {
  AmView view;
  view.source = message.source;
  view.category = static_cast<Category>(message.header.category);
  view.is_request = message.header.is_reply == 0;
  view.handler = message.header.handler;
  const std::byte* const arguments = message.head() + sizeof(WireHeader);
  view.arguments = {reinterpret_cast<const std::int32_t*>(arguments), message.header.arguments};
  view.size = message.header.size;
  if (view.category == Category::medium) view.payload = message.payload();
  if (view.category == Category::long_message) {
    std::uint64_t destination = 0;
    std::memcpy(&destination, arguments + view.arguments.size_bytes(), sizeof destination);
    view.payload = reinterpret_cast<void*>(static_cast<std::uintptr_t>(destination));
    if (view.size != 0) {
      host_.synchronise();  // the segment is seen by the ranks of the node
      host_.copy(view.payload, message.payload(), view.size);
    }
  }
  sink.arrived(view);
  spare_.push_back(&message);
}

// Where the card has no room the rank is woken when it has, and polls.
void ExtollConduit::pay_debts() {
  while (!debts_.empty()) {
    Peer& peer = peers_[debts_.back()];
    if (2 * peer.owed >= share_) {
      if (port_.velo_room() <= reserved_) {
        port_.wake_on_velo_room(reserved_ + 1);
        return;
      }
      const std::uint32_t credits = std::exchange(peer.owed, 0);
      send_one(Rank{debts_.back()}, std::as_bytes(std::span(&credits, 1)), kCredit);
    }
    peer.listed = false;
    debts_.pop_back();
  }
}

void ExtollConduit::refuse_drops() {
  const auto notification = port_.notification_next();
  if (!notification) return;
  throw UsageError("extoll: rank " + std::to_string(index(port_.rank())) + " gets a notification of rank " +
                   std::to_string(index(notification->peer)) + " that the conduit has not asked for");
}

}  // namespace gasmeter::networks::extoll

// The sending half of the conduit. extoll_receive.cpp has the receiving half.
#include "gasmeter/networks/extoll/extoll_conduit.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/prepare_check.hpp"
#include "gasmeter/networks/extoll/extoll_network.hpp"

namespace gasmeter::networks::extoll {

using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::Category;
using conduit::OperationId;

namespace {

constexpr unsigned kPutCommands = 2;  // the put itself, and the get that reads its last word back

WireHeader wire_header(const AmHeader& header, Bytes size) {
  WireHeader result;
  result.category = static_cast<std::uint8_t>(header.category) & 3U;
  result.is_reply = header.is_reply ? 1 : 0;
  result.arguments = header.arguments & 31U;
  result.size = static_cast<std::uint32_t>(size);
  return result;
}

Bytes bytes_of(const MessageQueue& queue) {
  Bytes sum = 0;
  for (const Message* each = queue.front(); each != nullptr; each = each->next) sum += MessageStore::bytes_of(*each);
  return sum;
}

Message* message_of(const AmBuffer& buffer) {
  return reinterpret_cast<Message*>(static_cast<std::uintptr_t>(buffer.slot));
}

}  // namespace

ExtollConduit::ExtollConduit(ExtollNetwork& network, sim::ModelHost host, Rank rank, const AmOptions& options)
    : host_(host),
      port_(network.port(rank)),
      store_(network.messages(host.node())),
      near_(network.near_boxes()),
      options_(options),
      per_packet_(network.parameters().velo_payload) {
  if (per_packet_ < 2 * sizeof(WireHeader)) {
    throw UsageError("extoll: velo.payload of " + std::to_string(per_packet_) + "; the conduit needs " +
                     std::to_string(2 * sizeof(WireHeader)));
  }
  capabilities_.max_request_medium = kMostMedium;
  capabilities_.max_reply_medium = kMostMedium;
  capabilities_.max_request_long = kMostLong;
  capabilities_.max_reply_long = kMostLong;
  capabilities_.medium_puts = kMostMedium;
  port_.hold_when_full();
  port_.register_memory(bounce_.memory());
  if (!options_.rma_puts) return;
  capabilities_.native_put = true;
  capabilities_.max_transfer = kMostLong;
  capabilities_.copied_puts = kMostLong;
  port_.register_memory(read_back_.memory());
}

void ExtollConduit::attach(std::span<std::byte> segment) {
  if (!segment.empty()) port_.register_memory(segment);
}

Bytes ExtollConduit::reserved_bytes() const {
  Bytes sum = port_.reserved_bytes() + bounce_.memory().size() + bytes_of(ready_requests_) + bytes_of(ready_replies_);
  if (options_.rma_puts) sum += read_back_.memory().size();
  if (options_.node_by_memory) {
    sum += near_.reserved_bytes(host_.rank(), [](const Message* message) { return MessageStore::bytes_of(*message); });
  }
  for (std::size_t i = first_out_; i != outbox_.size(); ++i) sum += MessageStore::bytes_of(*outbox_[i].message);
  for (const auto& [rank, source] : sources_) {
    sum += bytes_of(source.longs) + bytes_of(source.landed);
    if (source.partial != nullptr) sum += MessageStore::bytes_of(*source.partial);
  }
  return sum;
}

bool ExtollConduit::is_near(Rank rank) const {
  return options_.node_by_memory && services::are_node_mates(host_, rank);
}

Status ExtollConduit::prepare(const AmHeader& header, const void* /*client*/, Bytes least, Bytes most, AmBuffer& out) {
  const Bytes room = conduit::check_prepare("extoll", capabilities_, header, least, most);
  out.header = header;
  out.size = room;
  out.data = nullptr;
  out.slot = 0;
  if (is_near(header.peer)) return prepare_near(out);
  Flow* const flow = is_limited(header.peer, header.is_reply) ? &flows_[index(header.peer)] : nullptr;
  // Returned credits wake the rank.
  if (flow != nullptr && flow->under_way == options_.outstanding) return Status::no_resource;
  const unsigned packets = packets_of(wire_header(header, out.size), per_packet_, options_.packed);
  if (!outbox_.empty() && !push_outbox()) return Status::no_resource;
  const unsigned needed = packets <= ExtollPort::kVeloSlots ? packets : ExtollPort::kWorthwhileSlots;
  if (!port_.has_velo_room(needed)) {
    port_.wake_on_velo_room(needed);
    return Status::no_resource;
  }
  if (header.category == Category::long_message) {
    if (bounce_.free() == 0) return Status::no_resource;  // the notification of the next free buffer wakes the rank
    out.data = bounce_.at(bounce_.take());
  } else if (header.category == Category::medium) {
    Message& message = store_.take(out.size);
    out.data = message.data();
    out.slot = reinterpret_cast<std::uintptr_t>(&message);
  }
  if (flow != nullptr) ++flow->under_way;
  return Status::ok;
}

void ExtollConduit::cancel(const AmBuffer& buffer) {
  if (is_near(buffer.header.peer)) {
    near_.cancel(host_, buffer.header.peer);
  } else if (buffer.header.category == Category::long_message) {
    bounce_.give(bounce_.number_of(static_cast<const std::byte*>(buffer.data)));
  }
  if (buffer.slot != 0) store_.give(*message_of(buffer));
  if (is_limited(buffer.header.peer, buffer.header.is_reply)) --flows_[index(buffer.header.peer)].under_way;
}

// Send a message that the card can take at once.
GASMETER_INLINE void ExtollConduit::send_whole(Rank to, const WireHeader& header,
                                               std::span<const std::int32_t> arguments, const std::byte* data) {
  VeloPacket& packet = port_.velo_packet();
  std::byte* at = packet.payload.data();
  std::memcpy(at, &header, sizeof header);
  at += sizeof header;
  // Most messages have one or two arguments. A call to copy those costs more than the copy.
  switch (arguments.size()) {
    case 0:
      break;
    case 1:
      std::memcpy(at, arguments.data(), sizeof(std::int32_t));
      break;
    case 2:
      std::memcpy(at, arguments.data(), 2 * sizeof(std::int32_t));
      break;
    default:
      std::memcpy(at, arguments.data(), arguments.size_bytes());
  }
  at += arguments.size_bytes();
  const Bytes bytes = header.data_bytes();
  if (bytes != 0) std::memcpy(at, data, bytes);
  at += bytes;
  port_.velo_store(packet, to, static_cast<Bytes>(at - packet.payload.data()),
                   static_cast<std::uint8_t>(Section::header));
}

Status ExtollConduit::commit(const AmBuffer& buffer, const AmCommit& commit, conduit::OperationId local) {
  host_.charge(conduit::PrivatePrice::header_build);
  WireHeader header = wire_header(buffer.header, commit.size);
  header.handler = commit.handler;
  done_.add(local);
  const Rank to = buffer.header.peer;
  if (is_near(to)) {
    commit_near(buffer, commit, header);
    return Status::ok;
  }
  const auto destination = std::uint64_t{reinterpret_cast<std::uintptr_t>(commit.destination)};
  const auto* data = static_cast<const std::byte*>(buffer.data);
  if (header.kind() == Category::long_message) {
    if (header.size != 0) {
      start_put(buffer, commit);
    } else {
      bounce_.give(bounce_.number_of(data));
    }
    data = reinterpret_cast<const std::byte*>(&destination);
  }
  const Bytes whole = sizeof header + header.argument_bytes() + header.data_bytes();
  const bool is_one_packet = options_.packed && !options_.send_poll && whole <= per_packet_;
  if (GASMETER_LIKELY(is_one_packet && outbox_.empty())) {
    if (options_.lock != AmOptions::Lock::none) host_.charge(conduit::PrivatePrice::own_lock);
    if (GASMETER_LIKELY(port_.has_velo_room(1))) {
      send_whole(to, header, commit.arguments, data);
      if (buffer.slot != 0) store_.give(*message_of(buffer));
      return Status::ok;
    }
  }
  commit_in_parts(buffer, commit, header, data, is_one_packet);
  return Status::ok;
}

// Send a message in several packets, as many as the card has room for. The function has a frame of its own, so that the
// stacks of thousands of ranks stay small in the caches.
GASMETER_NOINLINE void ExtollConduit::commit_in_parts(const AmBuffer& buffer, const AmCommit& commit,
                                                      const WireHeader& header, const std::byte* data, bool waits) {
  const Rank to = buffer.header.peer;
  PacketCutter cutter(header, commit.arguments.data(), data, per_packet_, options_.packed);
  if (!waits && outbox_.empty() && send(to, cutter)) {
    if (buffer.slot != 0) store_.give(*message_of(buffer));
    return;
  }
  // Later polls send what the card has no room for, from memory that stays.
  Message& kept = buffer.slot != 0 ? *message_of(buffer) : store_.take(header.data_bytes());
  if (header.arguments != 0) {
    std::memcpy(kept.arguments.data(), commit.arguments.data(), commit.arguments.size_bytes());
  }
  if (buffer.slot == 0 && header.data_bytes() != 0) std::memcpy(kept.data(), data, header.data_bytes());
  cutter.move_to(kept.arguments.data(), kept.data());
  wait_for_room(cutter.packets_left());
  outbox_.push_back({to, cutter, &kept});
}

GASMETER_NOINLINE void ExtollConduit::start_put(const AmBuffer& buffer, const AmCommit& commit) {
  if (options_.lock == AmOptions::Lock::packet) host_.charge(conduit::PrivatePrice::own_lock);
  command(port_.rma_put(buffer.header.peer, commit.destination, buffer.data, commit.size,
                        Notify::requester | Notify::completer));
}

// ---- puts

// Put from where the bytes lie. A copy is needed only if the card may not read the source, or if the source may change
// at once. Enough command slots stay free for Longs: one for each buffer.
Status ExtollConduit::put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) {
  const bool at_return = local == conduit::kAtReturn;
  if (at_return) local = conduit::kNoOperation;
  if (bytes == 0 || is_near(peer)) {
    host_.synchronise();  // node mates may read either memory
    if (bytes != 0) host_.copy(to, from, bytes);
    done_.add(root);
    done_.add(local);
    return Status::ok;
  }
  const bool is_copied = at_return || !port_.is_registered(from, bytes);
  // Notifications wake the rank.
  if (read_back_.free() == 0 || (is_copied && bounce_.free() == 0)) return Status::no_resource;
  if (port_.rma_room() < kPutCommands + kBounceBuffers) {
    port_.wake_on_rma_room();
    return Status::no_resource;
  }
  if (options_.lock != AmOptions::Lock::none) host_.charge(conduit::PrivatePrice::own_lock);
  if (is_copied) {
    std::byte* const bounce = bounce_.at(bounce_.take());
    host_.synchronise();  // node mates may write the source
    host_.copy(bounce, from, bytes);
    from = bounce;
    done_.add(local);
    local = conduit::kNoOperation;
  }
  const bool is_told = is_copied || local != conduit::kNoOperation;
  command(port_.rma_put(peer, to, from, bytes, is_told ? Notify::requester : Notify::none));
  if (local != conduit::kNoOperation) leaves_.push_back(local);
  // A get of the last word follows the put. No packet overtakes another, so that the answer proves that the bytes have
  // arrived.
  const std::uint32_t which = read_back_.take();
  roots_[which] = root;
  const Bytes word = std::min(bytes, kReadBack);
  command(
      port_.rma_get(peer, read_back_.at(which), static_cast<std::byte*>(to) + bytes - word, word, Notify::completer));
  return Status::ok;
}

void ExtollConduit::command(Status taken) {
  if (taken == Status::ok) return;
  throw UsageError("extoll: no room in the card for a command, although fewer are under way than it takes");
}

// Send packets until none is left or the card has no room. Return true if none is left.
bool ExtollConduit::send(Rank to, PacketCutter& cutter) {
  std::array<std::byte, kVeloPayload> packet;
  bool locked = options_.lock != AmOptions::Lock::message;
  while (!cutter.done()) {
    if (!locked || options_.lock == AmOptions::Lock::packet) host_.charge(conduit::PrivatePrice::own_lock);
    locked = true;
    if (options_.send_poll) {
      if (const VeloPacket* const arrived = port_.mailbox_next()) {
        (void)take_packet(*arrived, nullptr, conduit::PollFilter::everything);
      } else {
        host_.charge(conduit::PrivatePrice::poll_miss);
      }
    }
    if (!port_.has_velo_room(1)) return false;
    const PacketCutter::Cut cut = cutter.next(packet);
    (void)port_.velo_send(to, cut.bytes, static_cast<std::uint8_t>(cut.section));
  }
  return true;
}

void ExtollConduit::wait_for_room(unsigned packets) {
  port_.wake_on_velo_room(std::min(packets, ExtollPort::kWorthwhileSlots));
}

// Continue the waiting messages in order. Return true if none is left.
bool ExtollConduit::push_outbox() {
  while (first_out_ != outbox_.size()) {
    Outgoing& next = outbox_[first_out_];
    if (!port_.has_velo_room(1) || !send(next.to, next.cutter)) {
      wait_for_room(next.cutter.packets_left());
      return false;
    }
    store_.give(*next.message);
    ++first_out_;
  }
  outbox_.clear();
  first_out_ = 0;
  return true;
}

// ---- credits: how many more requests a peer may be sent before it has handled earlier ones

// Replies need no credits: a rank that waits for a reply accepts replies, whatever else it waits for.
bool ExtollConduit::is_limited(Rank peer, bool is_reply) const {
  return options_.outstanding != 0 && !is_reply && !is_near(peer);
}

// Return credits at half the limit, so that the peer can continue while the packet with the credits travels.
void ExtollConduit::handled(Rank source) {
  if (!is_limited(source, false)) return;
  if (++flows_[index(source)].owed == (options_.outstanding + 1) / 2) creditors_.push_back(source);
}

// Each peer gets one packet. Later polls send the packets that the card has no room for.
void ExtollConduit::return_credits() {
  while (!creditors_.empty()) {
    if (!port_.has_velo_room(1)) {
      port_.wake_on_velo_room(1);
      return;
    }
    const Rank to = creditors_.back();
    Flow& flow = flows_[index(to)];
    std::array<std::byte, sizeof flow.owed> packet;
    std::memcpy(packet.data(), &flow.owed, sizeof flow.owed);
    if (options_.lock != AmOptions::Lock::none) host_.charge(conduit::PrivatePrice::own_lock);
    host_.charge(conduit::PrivatePrice::header_build);
    // has_velo_room() may be out of date: an earlier packet that found a node mate's mailbox full may have taken its
    // place in the card again.
    if (port_.velo_send(to, packet, static_cast<std::uint8_t>(Section::credits)) != Status::ok) return;
    flow.owed = 0;
    creditors_.pop_back();
    news_ = true;  // packets may have arrived during the store
  }
}

// ---- to ranks of the node

Status ExtollConduit::prepare_near(AmBuffer& out) {
  if (!near_.reserve(host_, out.header.peer)) return Status::no_resource;
  Message& message = store_.take(out.size);
  out.data = message.data();
  out.slot = reinterpret_cast<std::uintptr_t>(&message);
  return Status::ok;
}

GASMETER_NOINLINE void ExtollConduit::commit_near(const AmBuffer& buffer, const AmCommit& commit,
                                                  const WireHeader& header) {
  Message& message = *message_of(buffer);
  message.header = header;
  message.source = port_.rank();
  message.destination = commit.destination;
  if (header.arguments != 0) {
    std::memcpy(message.arguments.data(), commit.arguments.data(), commit.arguments.size_bytes());
  }
  if (header.kind() == Category::long_message && header.size != 0) {
    host_.synchronise();
    host_.copy(commit.destination, message.data(), header.size);
  }
  near_.leave(host_, buffer.header.peer, &message);
}

}  // namespace gasmeter::networks::extoll

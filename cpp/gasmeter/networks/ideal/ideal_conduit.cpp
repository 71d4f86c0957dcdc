#include "gasmeter/networks/ideal/ideal_conduit.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/prepare_check.hpp"

namespace gasmeter::networks::ideal {

using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::Category;
using conduit::PollFilter;

namespace {

constexpr Bytes kMaxPayload = 4096;

// Header in front of the arguments.
struct WireHeader {
  Category category{};
  bool is_reply = false;
  HandlerIndex handler{};
  std::uint8_t arguments = 0;
  std::uint32_t size = 0;  // bytes of payload
  std::uint64_t destination = 0;
};
constexpr Bytes kArgumentsAt = sizeof(WireHeader);
static_assert(kArgumentsAt == 16);

// Aligned for any type, because a handler reads a Medium's payload there.
constexpr Bytes payload_at(unsigned arguments) {
  constexpr Bytes alignment = alignof(std::max_align_t);
  return (kArgumentsAt + arguments * sizeof(std::int32_t) + alignment - 1) / alignment * alignment;
}
static_assert(payload_at(conduit::kMaxArguments) + kMaxPayload <= kMaxPacketBytes);

constexpr Bytes wire_size(unsigned arguments, Bytes payload) {
  return payload == 0 ? kArgumentsAt + arguments * sizeof(std::int32_t) : payload_at(arguments) + payload;
}

WireHeader header_of(const Packet& packet) {
  WireHeader header;
  std::memcpy(&header, packet.bytes.data(), sizeof header);
  return header;
}

}  // namespace

IdealConduit::IdealConduit(IdealNetwork& network, sim::ModelHost host, Rank rank, const IdealOptions& options,
                           services::AmBoxes* near)
    : network_(network), host_(host), nic_(network.nic(rank)), options_(options), near_(near, host) {
  capabilities_.max_request_medium = capabilities_.max_reply_medium = options.medium;
  capabilities_.max_request_long = capabilities_.max_reply_long = kMaxPayload;
  capabilities_.handlers_by_interrupt = network.effects().handlers_by_interrupt;
  capabilities_.native_put = options.native_puts;
  capabilities_.max_transfer = kMaxPayload;
  capabilities_.copied_puts = kMaxPayload;
  if (!options.pins) return;
  pins_.emplace(host, *options.pins);
  capabilities_.native_pin = true;
  capabilities_.pins = *options.pins;
}

void IdealConduit::attach(std::span<std::byte> segment) {
  if (pins_) pins_->place_segment(segment);
}

Status IdealConduit::prepare(const AmHeader& header, const void* client, Bytes least, Bytes most, AmBuffer& out) {
  const Bytes room = conduit::check_prepare("ideal", capabilities_, header, least, most);
  if (near_.reaches(header.peer)) return near_.prepare(header, room, out);
  const Bytes bytes = wire_size(header.arguments, room);
  PacketHandle packet = nic_.try_reserve(bytes, header.is_reply ? 0 : network_.parameters().reply_slots);
  if (!packet) return Status::no_resource;
  out.header = header;
  out.size = room;
  // The client fills its own memory until commit, which copies from there.
  out.data = client != nullptr ? const_cast<void*>(client) : packet->bytes.data() + payload_at(header.arguments);
  out.slot = reinterpret_cast<std::uintptr_t>(packet.release());
  return Status::ok;
}

Packet& IdealConduit::prepared(const AmBuffer& buffer) {
  return *reinterpret_cast<Packet*>(static_cast<std::uintptr_t>(buffer.slot));
}

PacketHandle IdealConduit::packet_of(const AmBuffer& buffer) const {
  return network_.packets().own(&prepared(buffer));
}

Status IdealConduit::commit(const AmBuffer& buffer, const AmCommit& message, conduit::OperationId local) {
  if (near_.reaches(buffer.header.peer)) {
    host_.charge(conduit::PrivatePrice::header_build);
    local_done_.add(local);
    return near_.commit(buffer, message);
  }
  const unsigned arguments = buffer.header.arguments;
  std::byte* const payload = prepared(buffer).bytes.data() + payload_at(arguments);
  const bool is_elsewhere = message.size != 0 && buffer.data != payload;
  if (is_elsewhere && reach(buffer.data, message.size) != Status::ok) return Status::no_resource;
  PacketHandle packet = packet_of(buffer);
  host_.charge(conduit::PrivatePrice::header_build);
  WireHeader header;
  header.category = buffer.header.category;
  header.is_reply = buffer.header.is_reply;
  header.handler = message.handler;
  header.arguments = buffer.header.arguments;
  header.size = static_cast<std::uint32_t>(message.size);
  header.destination = reinterpret_cast<std::uintptr_t>(message.destination);
  std::memcpy(packet->bytes.data(), &header, sizeof header);
  if (arguments != 0) {
    std::memcpy(packet->bytes.data() + kArgumentsAt, message.arguments.data(), arguments * sizeof(std::int32_t));
  }
  if (is_elsewhere) host_.copy(payload, buffer.data, message.size);
  nic_.send(std::move(packet), buffer.header.peer, wire_size(arguments, message.size));
  local_done_.add(local);
  return Status::ok;
}

// Register memory outside the segment while the network reads a payload there.
Status IdealConduit::reach(const void* payload, Bytes bytes) {
  if (!pins_ || pins_->is_segment(payload, bytes)) return Status::ok;
  const services::RegionNumber region = pins_->acquire(payload, bytes);
  if (region == services::kNoRegion) return Status::no_resource;
  pins_->release(region);
  return Status::ok;
}

Status IdealConduit::pin(std::span<std::byte> memory, conduit::Pin& pinned) {
  if (!pins_) return Status::unsupported;
  return pins_->pin(memory, pinned);
}

void IdealConduit::unpin(conduit::Pin pinned) {
  pins_ ? pins_->unpin(pinned) : Conduit::unpin(pinned);
}

void IdealConduit::forget(std::span<const std::byte> memory) {
  if (pins_) pins_->forget(memory);
}

void IdealConduit::cancel(const AmBuffer& buffer) {
  if (near_.reaches(buffer.header.peer)) return near_.cancel(buffer);
  nic_.cancel(packet_of(buffer));
}

// Put by the NIC, which reads the bytes when they leave. A source that may change earlier is copied into the packet.
Status IdealConduit::put(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root,
                         conduit::OperationId local) {
  PacketHandle packet = nic_.try_reserve(bytes, network_.parameters().reply_slots);
  if (!packet) return Status::no_resource;
  if (local == conduit::kAtReturn) {
    host_.synchronise();  // ranks of the node see the source
    if (bytes != 0) host_.copy(packet->bytes.data(), from, bytes);
    from = nullptr;
    local = conduit::kNoOperation;
  } else if (bytes != 0 && reach(from, bytes) != Status::ok) {
    nic_.cancel(std::move(packet));
    return Status::no_resource;
  }
  nic_.put(std::move(packet), peer, kArgumentsAt, {bytes != 0 ? from : nullptr, to, bytes, root, local});
  return Status::ok;
}

unsigned IdealConduit::poll(conduit::Delivery& sink, unsigned budget, PollFilter filter) {
  unsigned handed = local_done_.report(sink, budget);
  if (capabilities_.native_put) handed += hand_over_done(sink, budget - handed);
  if (near_.is_used()) handed += near_.poll(sink, budget - handed, filter);
  for (; handed < budget; ++handed) {
    const PacketHandle packet = next_packet(filter);
    if (!packet) break;
    hand_over(sink, *packet);
  }
  return handed;
}

unsigned IdealConduit::hand_over_done(conduit::Delivery& sink, unsigned budget) {
  for (unsigned handed = 0; handed < budget; ++handed) {
    const auto operation = nic_.take_done();
    if (!operation) return handed;
    sink.completed(*operation);
  }
  return budget;
}

// Return the next packet. Deferred requests do not count: a poll that finds nothing must have seen every reply, or its
// caller sleeps while a reply waits.
PacketHandle IdealConduit::next_packet(PollFilter filter) {
  if (filter == PollFilter::everything && !deferred_.empty()) return network_.packets().own(deferred_.pop());
  for (;;) {
    PacketHandle packet = nic_.take();
    if (!packet || filter == PollFilter::everything || header_of(*packet).is_reply) return packet;
    deferred_.push(packet.release());
  }
}

void IdealConduit::hand_over(conduit::Delivery& sink, Packet& packet) {
  const WireHeader header = header_of(packet);
  host_.spend(options_.search, sim::Step::search);
  std::byte* payload = packet.bytes.data() + payload_at(header.arguments);
  conduit::AmView view;
  view.source = packet.source;
  view.category = header.category;
  view.is_request = !header.is_reply;
  view.handler = header.handler;
  view.arguments = {reinterpret_cast<const std::int32_t*>(packet.bytes.data() + kArgumentsAt), header.arguments};
  view.size = header.size;
  view.payload = header.category == Category::medium ? payload : nullptr;
  if (header.category == Category::long_message) {
    host_.spend(options_.translate, sim::Step::translate);
    view.payload = reinterpret_cast<void*>(static_cast<std::uintptr_t>(header.destination));
    if (header.size != 0) {
      host_.synchronise();  // ranks of the node see the segment
      host_.copy(view.payload, payload, header.size);
    }
  }
  sink.arrived(view);
}

Bytes IdealConduit::reserved_bytes() const {
  Bytes sum = nic_.reserved_bytes() + near_.reserved_bytes();
  for (const Packet* each = deferred_.front(); each != nullptr; each = static_cast<const Packet*>(each->next)) {
    sum += kMaxPacketBytes;
  }
  return sum;
}

}  // namespace gasmeter::networks::ideal

#include "gasmeter/networks/extoll/rma_streams.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "gasmeter/networks/extoll/extoll_network.hpp"
#include "gasmeter/sim/engine/fast_forward.hpp"

namespace gasmeter::networks::extoll {
namespace {

constexpr std::size_t kMostStreams = 64;

bool overlap(const std::byte* first, Bytes first_bytes, const std::byte* second, Bytes second_bytes) {
  const std::less<const std::byte*> before;
  return before(first, second + second_bytes) && before(second, first + first_bytes);
}

void make_unique(auto& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

RmaStreams::RmaStreams(ExtollNetwork& network) : network_(network), long_(network.engine().partitions()) {}

void RmaStreams::add(RmaReader& reader) {
  long_[network_.engine().partition_of(reader.node())].push_back(&reader);
  network_.engine().fast_forward().count_long(1);
}

void RmaStreams::remove(RmaReader& reader) {
  auto& all = long_[network_.engine().partition_of(reader.node())];
  *std::find(all.begin(), all.end(), &reader) = all.back();
  all.pop_back();
  network_.engine().fast_forward().count_long(-1);
}

// ---- transfers in flight

bool RmaStreams::begin() {
  streams_.clear();
  links_.clear();
  sources_.clear();
  targets_.clear();
  units_.clear();
  const std::uint32_t nodes = network_.engine().nodes();
  if (stream_of_requester_.empty()) {
    stream_of_requester_.assign(nodes, -1);
    stream_of_responder_.assign(nodes, -1);
  }
  for (const auto& readers : long_) {
    for (RmaReader* const reader : readers) {
      if (streams_.size() == kMostStreams || !add_stream(*reader)) {
        end();
        return false;
      }
    }
  }
  if (streams_.empty() || disturb_one_another()) {
    end();
    return false;
  }
  make_unique(links_);
  make_unique(sources_);
  make_unique(targets_);
  for (const std::uint32_t target : targets_) {
    units_.push_back(&network_.nic(NodeId{target}).completer().writing());
    units_.push_back(&network_.nic(NodeId{target}).completer().late());
  }
  std::sort(units_.begin(), units_.end());
  is_open_ = true;
  return true;
}

void RmaStreams::end() {
  is_open_ = false;
  for (const Stream& stream : streams_) stream_of_requester_[stream.node] = stream_of_responder_[stream.node] = -1;
}

bool RmaStreams::add_stream(RmaReader& reader) {
  Stream stream;
  stream.reader = &reader;
  stream.transfer = reader.transfer();
  stream.node = index(reader.node());
  stream.to = index(network_.node_of(stream.transfer.peer));
  const RmaTransfer& transfer = stream.transfer;
  const ExtollPort& target = network_.port(transfer.peer);
  const Bytes packet = network_.parameters().packet;
  // Within a node nothing keeps the reader from running ahead of the completer. A transfer to memory that is not
  // registered must fail at its exact time.
  if (stream.node == stream.to || !target.is_registered(transfer.to, transfer.bytes) ||
      !network_.fabric().add_way(stream.node, stream.to, links_)) {
    return false;
  }
  const sim::Engine& engine = network_.engine();
  stream.limit = std::min(transfer.bytes - packet, engine.first_look_in(transfer.peer, transfer.to, transfer.bytes));
  if (stream.limit < reader.sent() || target.effect_of_write(transfer.to, 0) == sim::WakeEffect::unknown) return false;
  auto& numbers = transfer.kind == PacketKind::put ? stream_of_requester_ : stream_of_responder_;
  numbers[stream.node] = static_cast<std::int32_t>(streams_.size());
  sources_.push_back(stream.node);
  targets_.push_back(stream.to);
  units_.push_back(&reader.reading());
  units_.push_back(&reader.late());
  units_.push_back(&reader.outlet());
  streams_.push_back(stream);
  return true;
}

// Tell whether one transfer writes memory that another one reads or writes.
bool RmaStreams::disturb_one_another() const {
  for (const Stream& stream : streams_) {
    for (const Stream& other : streams_) {
      const RmaTransfer& a = stream.transfer;
      const RmaTransfer& b = other.transfer;
      if (overlap(a.to, a.bytes, b.from, b.bytes)) return true;
      if (&stream != &other && overlap(a.to, a.bytes, b.to, b.bytes)) return true;
    }
  }
  return false;
}

RmaStreams::Stream* RmaStreams::stream_of(const RmaPacket& packet) const {
  const auto kind = static_cast<PacketKind>(packet.kind);
  if (kind != PacketKind::put && kind != PacketKind::response) return nullptr;
  const auto& numbers = kind == PacketKind::put ? stream_of_requester_ : stream_of_responder_;
  const std::int32_t number = numbers[packet.from];
  if (number < 0) return nullptr;
  const Stream& stream = streams_[static_cast<std::size_t>(number)];
  const RmaTransfer& transfer = stream.transfer;
  const bool is_its_own = packet.to == stream.to && packet.owner == transfer.owner && packet.peer == transfer.peer &&
                          packet.total == transfer.bytes && packet.notify == transfer.notify &&
                          packet.read_at == transfer.from + packet.before &&
                          packet.write_at == transfer.to + packet.before;
  return is_its_own ? const_cast<Stream*>(&stream) : nullptr;
}

bool RmaStreams::is_unheard(const RmaPacket& packet) const {
  return is_open_ && stream_of(packet) != nullptr &&
         network_.port(packet.peer).effect_of_write(packet.write_at, packet.size) == sim::WakeEffect::one_poll;
}

SimTime RmaStreams::worthwhile() const {
  const ExtollParameters& p = network_.parameters();
  const SimTime packet = network_.fabric().on_wire(p.header + p.packet);
  return {(packet * kLong).ps / 2};
}

bool RmaStreams::is_part(const sim::Posted& entry) const {
  const sim::Fabric& fabric = network_.fabric();
  if (!fabric.is_packet(entry)) {
    const std::uint32_t link = fabric.link_of_retry(entry);
    if (link != sim::kNoLink) return std::binary_search(links_.begin(), links_.end(), link);
    return std::binary_search(units_.begin(), units_.end(), static_cast<const sim::Action*>(entry.action));
  }
  const auto& packet = static_cast<const sim::Packet&>(*entry.carried());
  const auto kind = static_cast<PacketKind>(packet.kind);
  return (kind == PacketKind::put || kind == PacketKind::response) &&
         stream_of(static_cast<const RmaPacket&>(packet)) != nullptr;
}

bool RmaStreams::is_beat(const sim::Posted& entry) const {
  return entry.action == &streams_.front().reader->reading();
}

// ---- state of the transfers

void RmaStreams::walk(sim::StateWalk& walk) {
  for (Stream& stream : streams_) {
    if (!stream.reader->has_transfer()) walk.refuse();
    stream.reader->walk(walk, stream.limit);
  }
  for (const std::uint32_t source : sources_) network_.nic(NodeId{source}).to_card().walk(walk);
  for (const std::uint32_t target : targets_) network_.nic(NodeId{target}).walk_arrivals(walk);
  const auto each = [&](sim::Packet& packet) { this->walk(packet, walk); };
  for (const std::uint32_t link : links_) network_.fabric().walk(link, walk, each);
}

void RmaStreams::walk(const sim::Posted& entry, sim::StateWalk& walk) {
  if (!network_.fabric().is_packet(entry)) {
    walk.address(entry.action);
    return;
  }
  network_.fabric().walk(entry, walk);
  this->walk(static_cast<sim::Packet&>(*entry.carried()), walk);
}

void RmaStreams::walk(sim::Packet& packet, sim::StateWalk& walk) {
  const auto kind = static_cast<PacketKind>(packet.kind);
  if (kind == PacketKind::put || kind == PacketKind::response) {
    this->walk(static_cast<RmaPacket&>(packet), true, walk);
  } else {
    walk.refuse();
  }
}

void RmaStreams::walk(RmaPacket& packet, bool is_read, sim::StateWalk& walk) {
  Stream* const stream = stream_of(packet);
  if (stream == nullptr || packet.last) {
    walk.refuse();
    return;
  }
  walk.word(static_cast<std::uint64_t>(stream - streams_.data()) << 16U | packet.size);
  if (walk.is_moving()) stream->moved_from = std::min(stream->moved_from, packet.before);
  walk.counter(packet.before);
  if (!walk.is_moving()) {
    // The source has changed since this packet was read. The packet has bytes of its own, and moved() would copy other
    // bytes.
    if (is_read && std::memcmp(packet.payload.data(), packet.read_at, packet.size) != 0) walk.refuse();
    return;
  }
  stream->oldest = std::min(stream->oldest, packet.before);
  packet.read_at = stream->transfer.from + packet.before;
  packet.write_at = stream->transfer.to + packet.before;
  if (is_read) std::memcpy(packet.payload.data(), packet.read_at, packet.size);
}

void RmaStreams::moved() {
  for (Stream& stream : streams_) {
    const RmaTransfer& transfer = stream.transfer;
    std::memcpy(transfer.to + stream.moved_from, transfer.from + stream.moved_from, stream.oldest - stream.moved_from);
  }
}

}  // namespace gasmeter::networks::extoll

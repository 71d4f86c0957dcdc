#include "gasmeter/networks/extoll/rma.hpp"

#include <algorithm>
#include <cstring>

#include "gasmeter/networks/extoll/extoll_network.hpp"

namespace gasmeter::networks::extoll {

RmaReader::RmaReader(ExtollNic& nic, SimTime busy, Notification::Kind done, Notify asked)
    : nic_(nic),
      busy_(busy),
      done_(done),
      asked_(asked),
      reading_(nic.engine(), nic.node(), *this),
      passage_(nic.engine(), nic.node(), *this),
      outlet_(nic) {}

void RmaReader::accept(const RmaTransfer& transfer) {
  transfers_.push_back(transfer);
  begin(transfer.ready);
}

void RmaReader::departed(SimTime end) {
  --under_way_;
  outlet_.departed(end);
  begin(end);
}

// The unit reads several packets ahead of the link, so that the link does not wait for host memory.
void RmaReader::begin(SimTime now) {
  const ExtollParameters& p = nic_.parameters();
  while (under_way_ < kAhead && first_ != transfers_.size()) {
    const RmaTransfer& transfer = transfers_[first_];
    const bool asks = transfer.kind == PacketKind::get_request;
    RmaPacket& packet = nic_.take_rma();
    const Bytes size = asks ? 0 : std::min(transfer.bytes - sent_, p.packet);
    packet.kind = static_cast<std::uint8_t>(transfer.kind) & 0x7fU;
    packet.owner = transfer.owner;
    packet.peer = transfer.peer;
    packet.read_at = transfer.from + sent_;
    packet.write_at = transfer.to + sent_;
    packet.before = sent_;
    packet.total = transfer.bytes;
    packet.size = static_cast<std::uint16_t>(size);
    packet.notify = transfer.notify;
    packet.from = index(nic_.node());
    packet.to = index(nic_.engine().node_of(transfer.peer));
    packet.bytes = static_cast<std::uint16_t>(p.header + (asks ? p.descriptor : size));
    sent_ += size;
    packet.last = asks || sent_ == transfer.bytes;
    SimTime due = engine_.serve(std::max(now, transfer.ready), busy_);
    if (size != 0) {
      const SimTime bytes = SimTime::of_bytes(p.host_link_per_byte_fs, size);
      due = answers_.serve(due + p.host_read, bytes);
    }
    ++under_way_;
    reading_.push(packet, due);
    if (packet.last) {
      sent_ = 0;
      if (++first_ == transfers_.size()) {
        transfers_.clear();
        first_ = 0;
      }
    }
    tell_length();
  }
}

void RmaReader::tell_length() {
  const Bytes left = transfers_.empty() || transfer().kind == PacketKind::get_request ? 0 : transfer().bytes - sent_;
  const bool is_long = left >= RmaStreams::kLong * nic_.parameters().packet;
  if (is_long == is_long_) return;
  is_long_ = is_long;
  is_long ? nic_.network().streams().add(*this) : nic_.network().streams().remove(*this);
}

NodeId RmaReader::node() const {
  return nic_.node();
}

void RmaReader::walk(sim::StateWalk& walk, Bytes limit) {
  RmaStreams& streams = nic_.network().streams();
  engine_.walk(walk);
  answers_.walk(walk);
  walk.word(transfers_.size() - first_);
  walk.counter(sent_, limit);
  walk.word(under_way_);
  const auto unread = [&](RmaPacket& packet) { streams.walk(packet, false, walk); };
  reading_.walk(walk, unread);
  passage_.walk(walk, unread);
  outlet_.walk(walk, [&](sim::Packet& packet) { streams.walk(static_cast<RmaPacket&>(packet), true, walk); });
}

void RmaReader::answered(RmaPacket& packet, SimTime now) {
  passage_.push(packet, packet.size == 0 ? now : nic_.to_card().end(packet.size, now), now);
}

// The packet takes the bytes that the memory holds now.
void RmaReader::read(RmaPacket& packet, SimTime now) {
  if (packet.size != 0) std::memcpy(packet.payload.data(), packet.read_at, packet.size);
  if (packet.last) finish(packet, now);
  outlet_.submit(packet, now);
}

void RmaReader::finish(const RmaPacket& packet, SimTime now) {
  if (has(packet.notify, asked_)) {
    // Memory is only read through this address, but a notification names memory of either direction.
    auto* const source = const_cast<std::byte*>(packet.read_at - packet.before);
    const bool asks = static_cast<PacketKind>(packet.kind) == PacketKind::get_request;
    nic_.notifications().write(packet.owner, {done_, 0, packet.peer, packet.total, asks ? packet.write_at : source},
                               now);
  }
  if (asked_ == Notify::requester) nic_.network().port(packet.owner).command_done(now);
}

RmaCompleter::RmaCompleter(ExtollNic& nic)
    : nic_(nic), writing_(nic.engine(), nic.node(), *this), passage_(nic.engine(), nic.node(), *this) {}

void RmaCompleter::arrived(RmaPacket& packet, SimTime in_card) {
  writing_.push(packet, engine_.serve(in_card, nic_.parameters().completer));
}

void RmaCompleter::passed_by(RmaPacket& request, SimTime in_card) {
  if (writing_.empty() && passage_.empty()) {
    nic_.serve_get(request, in_card);
  } else {
    writing_.push(request, in_card);
  }
}

void RmaCompleter::walk(sim::StateWalk& walk) {
  RmaStreams& streams = nic_.network().streams();
  engine_.walk(walk);
  const auto each = [&](RmaPacket& packet) { streams.walk(packet, true, walk); };
  writing_.walk(walk, each);
  passage_.walk(walk, each);
}

void RmaCompleter::done(RmaPacket& packet, SimTime now) {
  passage_.push(packet, packet.size == 0 ? now : nic_.to_host().end(packet.size, now), now);
}

void RmaCompleter::write(RmaPacket& packet, SimTime now) {
  if (static_cast<PacketKind>(packet.kind) == PacketKind::get_request) {
    nic_.serve_get(packet, now);
    return;
  }
  ExtollPort& port = nic_.network().port(packet.peer);
  port.written(packet, now);
  if (packet.last && has(packet.notify, Notify::completer)) {
    const Notification done{Notification::Kind::completer, 0, packet.owner, packet.total,
                            packet.write_at - packet.before};
    nic_.notifications().write(packet.peer, done, now);
  }
  nic_.give(packet);
}

}  // namespace gasmeter::networks::extoll

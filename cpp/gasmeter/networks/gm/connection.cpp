#include "gasmeter/networks/gm/connection.hpp"

#include <algorithm>
#include <cstring>

#include "gasmeter/networks/gm/gm_port.hpp"
#include "gasmeter/networks/gm/lanai.hpp"

namespace gasmeter::networks::gm {

namespace {

PacketKind kind_of(const GmPacket& packet) {
  return static_cast<PacketKind>(packet.kind);
}

// Return the firmware's time for a packet whose last byte is in the card.
SimTime work_at_target(const GmParameters& parameters, PacketKind kind) {
  switch (kind) {
    case PacketKind::directed:
    case PacketKind::get:
    case PacketKind::get_data:
      return parameters.directed;
    default:
      return parameters.packet;
  }
}

}  // namespace

Connection::Connection(Lanai& card)
    : card_(card), place_(*this, &Connection::on_place), held_(*this, &Connection::on_held) {}

void Connection::open(GmPort& owner, Rank peer, Priority priority, Standing& standing) {
  owner_ = &owner;
  peer_ = peer;
  priority_ = priority;
  standing_ = &standing;
  standing.connection = this;
}

// Return an idle connection to the card, which may lend it again. Only the Standing keeps its state.
void Connection::close_if_idle(SimTime now) {
  const bool sends = first_ != kNone || in_card_ != 0 || resumes_ || holds_;
  const bool receives = coming_ != 0 || received_ != 0;
  if (sends || receives || answered_ != 0 || leave_until(now) != 0) return;
  standing_->connection = nullptr;
  card_.take_back(*this);
}

// ---- sending

void Connection::post(std::uint32_t token, SimTime now) {
  owner_->sending(token).number = standing_->posted++;
  if (first_ == kNone) {
    first_ = token;
  } else {
    owner_->sending(last_).next = token;
  }
  last_ = token;
  if (next_ == kNone) next_ = token;
  begin(now);
}

GmPacket& Connection::make_packet(PacketKind kind, std::uint32_t message) {
  GmPacket& packet = card_.take();
  packet.kind = static_cast<std::uint8_t>(kind) & 0x7fU;
  packet.from = index(card_.node());
  packet.to = index(card_.engine().node_of(peer_));
  packet.connection = this;
  packet.owner = owner_->rank();
  packet.peer = peer_;
  packet.priority = priority_;
  packet.message = message;
  return packet;
}

unsigned Connection::leave_until(SimTime now) {
  while (leaving_count_ != 0 && leaving_[0] <= now) {
    std::copy(leaving_.begin() + 1, leaving_.end(), leaving_.begin());
    --leaving_count_;
  }
  return leaving_count_;
}

// A packet is read while the one before leaves, so that the link does not wait for host memory.
void Connection::begin(SimTime now) {
  const GmParameters& p = card_.parameters();
  while (has_packets()) {
    if (in_card_ + leave_until(now) == kAhead) {
      if (leaving_count_ != 0 && !resumes_) {
        resumes_ = true;
        card_.engine().post(card_.node(), card_.node(), leaving_[0], place_);
      }
      return;
    }
    const bool answers = !asked_.empty() && !(standing_->answered_last && has_sends());
    standing_->answered_last = answers ? 1 : 0;
    GmPacket& packet = answers ? next_of_gets() : next_of_sends();
    packet.watched = 1;
    SimTime due = card_.work(now, p.packet);
    if (packet.size != 0) due = card_.dma(due, packet.size);
    ++in_card_;
    card_.send(packet, due);
  }
}

GmPacket& Connection::next_of_sends() {
  const GmParameters& p = card_.parameters();
  const GmPort::Sending& sending = owner_->sending(next_);
  const bool is_get = sending.kind == PacketKind::get;
  const Bytes size = is_get ? 0 : std::min(sending.bytes - sent_, p.mtu);
  GmPacket& packet = make_packet(sending.kind, sending.number);
  packet.read_at = sending.read_at + sent_;
  packet.write_at = sending.write_at != nullptr ? sending.write_at + sent_ : nullptr;
  packet.before = static_cast<std::uint32_t>(sent_);
  packet.total = static_cast<std::uint32_t>(sending.bytes);
  packet.size_class = sending.size;
  packet.size = static_cast<std::uint16_t>(size);
  packet.bytes = static_cast<std::uint16_t>(p.header + (is_get ? kGetRequest : size));
  sent_ += size;
  packet.last = is_get || sent_ == sending.bytes;
  if (packet.last) {
    sent_ = 0;
    next_ = next_ == last_ ? kNone : sending.next;
  }
  return packet;
}

GmPacket& Connection::next_of_gets() {
  const GmParameters& p = card_.parameters();
  GmPacket& get = *asked_.front();
  const Bytes size = std::min(Bytes{get.total} - get.before, p.mtu);
  GmPacket& packet = make_packet(PacketKind::get_data, get.message);
  packet.target = get.connection;  // the get is not done before this packet has arrived
  packet.read_at = get.read_at + get.before;
  packet.write_at = get.write_at + get.before;
  packet.total = get.total;
  packet.size = static_cast<std::uint16_t>(size);
  packet.bytes = static_cast<std::uint16_t>(p.header + size);
  get.before += static_cast<std::uint32_t>(size);
  packet.last = get.before == get.total;
  if (packet.last) card_.give(*asked_.pop());
  return packet;
}

void Connection::departed(SimTime end) {
  --in_card_;
  leaving_[leaving_count_++] = end;
  if (!has_packets() || resumes_) return;
  resumes_ = true;
  card_.engine().post(card_.node(), card_.node(), leaving_[0], place_);
}

void Connection::on_place(sim::Action& self, SimTime now) {
  Connection& connection = static_cast<Timer&>(self).connection;
  connection.resumes_ = false;
  connection.begin(now);
}

void Connection::on_held(sim::Action& self, SimTime now) {
  Connection& connection = static_cast<Timer&>(self).connection;
  connection.holds_ = false;
  ++connection.owner_->counters().sent_again;
  connection.begin(now);
}

// End a send or get. The token stays taken until software has the event. Sends are acknowledged in order, but sends
// behind a get may end before its data have arrived.
void Connection::finish(std::uint32_t message, Event::Type type, SimTime now) {
  std::uint32_t before = kNone;
  std::uint32_t token = first_;
  while (owner_->sending(token).number != message) token = owner_->sending(before = token).next;
  const GmPort::Sending& sending = owner_->sending(token);
  if (before == kNone) {
    first_ = token == last_ ? kNone : sending.next;
  } else {
    owner_->sending(before).next = sending.next;
  }
  if (token == last_) last_ = before;
  owner_->tell({type, priority_, peer_, sending.id, sending.bytes, token}, now);
}

// Hold the connection: a message found no receive. Earlier messages have been taken, although their acknowledgements
// may come later, and are not sent again.
void Connection::refused(std::uint32_t message, SimTime now) {
  next_ = first_;
  while (owner_->sending(next_).number != message) next_ = owner_->sending(next_).next;
  sent_ = 0;
  holds_ = true;
  card_.engine().post(card_.node(), card_.node(), now + card_.parameters().hold_timer, held_);
}

// ---- receiving

void Connection::arrived(GmPacket& packet, SimTime now) {
  const PacketKind kind = kind_of(packet);
  const SimTime handled = card_.work(now, work_at_target(card_.parameters(), kind));
  if (kind != PacketKind::get_data && !take(packet, now)) {
    card_.give(packet);
    close_if_idle(now);
  } else if (kind == PacketKind::get) {
    ++answered_;
    asked_.push(&packet);
    begin(now);
  } else {
    ++coming_;
    // An empty message has an event to write, too.
    card_.deliver(packet, card_.dma(handled, packet.size));
  }
}

void Connection::answered(GmPacket& packet, SimTime tail) {
  SimTime due = card_.work(tail, card_.parameters().acknowledgement);
  if (kind_of(packet) == PacketKind::get_taken) {  // no software waits for it
    card_.give(packet);
    --answered_;
    close_if_idle(tail);
    return;
  }
  if (kind_of(packet) == PacketKind::acknowledgement) due = card_.dma(due, 0);  // the card writes the event
  card_.deliver(packet, due);
}

// Take a packet. Return false if its sender has to send it again.
bool Connection::take(GmPacket& packet, SimTime now) {
  if (packet.message != standing_->expected || packet.before != received_) {
    ++owner_->counters().out_of_order;  // the packet follows a refused one
    return false;
  }
  if (kind_of(packet) == PacketKind::message) {
    if (packet.before == 0 && !owner_->take_receive(packet.size_class, priority_, receive_)) {
      ++owner_->counters().no_receive;
      answer(PacketKind::no_receive, packet, now);
      return false;
    }
    packet.write_at = receive_.memory.data() + packet.before;
    packet.id = receive_.id;
  } else if (kind_of(packet) == PacketKind::get) {
    owner_->require_registered(packet.read_at, packet.total, name_of(PacketKind::get), packet.owner);
  } else {
    owner_->require_registered(packet.write_at, packet.size, name_of(PacketKind::directed), packet.owner);
  }
  received_ += packet.size;
  if (packet.last) {
    received_ = 0;
    ++standing_->expected;
  }
  return true;
}

void Connection::delivered(const GmPacket& packet, SimTime now) {
  switch (kind_of(packet)) {
    case PacketKind::acknowledgement:
      finish(packet.message, Event::Type::sent, now);
      close_if_idle(now);
      return;
    case PacketKind::no_receive:
      refused(packet.message, now);
      return;
    default:
      break;
  }
  if (packet.size != 0) std::memcpy(packet.write_at, packet.payload.data(), packet.size);
  const bool is_get = kind_of(packet) == PacketKind::get_data;
  if (kind_of(packet) == PacketKind::directed) {
    owner_->wake(now);  // software may watch the memory
  } else if (packet.last && is_get) {
    finish(packet.message, Event::Type::got, now);
  } else if (packet.last) {
    owner_->tell({Event::Type::received, priority_, packet.owner, packet.id, packet.total, 0}, now);
  }
  if (packet.last) answer(is_get ? PacketKind::get_taken : PacketKind::acknowledgement, packet, now);
  --coming_;
  close_if_idle(now);
}

void Connection::answer(PacketKind kind, const GmPacket& to, SimTime now) {
  const GmParameters& p = card_.parameters();
  GmPacket& packet = make_packet(kind, to.message);
  packet.target = to.connection;
  packet.watched = 0;
  packet.size = 0;
  packet.bytes = static_cast<std::uint16_t>(p.header);
  card_.answer(packet, card_.work(now, p.acknowledgement));
}

}  // namespace gasmeter::networks::gm

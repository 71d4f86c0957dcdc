#include "gasmeter/networks/extoll/extoll_nic.hpp"

#include <algorithm>

#include "gasmeter/networks/extoll/extoll_network.hpp"
#include "gasmeter/sim/trace/tracer.hpp"

namespace gasmeter::networks::extoll {

namespace {

PacketKind kind_of(const sim::Packet& packet) {
  return static_cast<PacketKind>(packet.kind);
}

}  // namespace

// ---- shared by the units

void Outlet::submit(sim::Packet& packet, SimTime now) {
  if (GASMETER_LIKELY(waiting_.empty() && free_ <= now)) {
    SimTime& place = first_free();
    if (place <= now) return let_in(packet, place, now);
  }
  waiting_.push(&packet);
  feed(now);
}

SimTime& Outlet::first_free() {
  return places_[1] < places_[0] ? places_[1] : places_[0];
}

void Outlet::let_in(sim::Packet& packet, SimTime& place, SimTime now) {
  place = kNever;
  free_ = now + nic_.on_path(packet);
  nic_.inject(packet, now);  // departed() may be called before this returns
}

void Outlet::departed(SimTime end) {
  (places_[0] == kNever ? places_[0] : places_[1]) = end;
  if (!feeding_ && !waiting_.empty()) feed_later();
}

void Outlet::name_steps(sim::Tracer& tracer) {
  tracer.name(&Outlet::on_room, sim::Step::queue);
}

void Outlet::on_room(sim::Action& self, SimTime now) {
  auto& outlet = static_cast<Outlet&>(self);
  if (outlet.feeds_at_ != now) return;  // the event was moved to an earlier time
  outlet.feeds_at_ = kNever;
  outlet.feed(now);
}

void Outlet::feed(SimTime now) {
  feeding_ = true;
  while (!waiting_.empty() && free_ <= now) {
    SimTime& place = first_free();
    if (place > now) break;
    let_in(static_cast<sim::Packet&>(*waiting_.pop()), place, now);
  }
  feeding_ = false;
  if (!waiting_.empty()) feed_later();
}

void Outlet::feed_later() {
  const SimTime at = std::max(free_, first_free());
  if (feeds_at_ <= at) return;
  feeds_at_ = at;
  nic_.engine().post(nic_.node(), nic_.node(), at, *this);
}

NotificationWriter::NotificationWriter(ExtollNic& nic) : nic_(nic), passage_(nic.engine(), nic.node(), *this) {}

void NotificationWriter::write(Rank to, const Notification& notification, SimTime now) {
  passage_.push({to, notification}, nic_.to_host().begin(nic_.parameters().notification, now), now);
}

void NotificationWriter::tell(const Written& written, SimTime now) {
  nic_.network().port(written.to).notify(written.notification, now);
}

// ---- the card

ExtollNic::ExtollNic(ExtollNetwork& network, NodeId node)
    : network_(network),
      node_(node),
      partition_(network.engine().partition_of(node)),
      to_card_(network.parameters().host_link_per_byte_fs),
      to_host_(network.parameters().host_link_per_byte_fs),
      notifications_(*this),
      velo_(*this),
      requester_(*this, network.parameters().requester, Notification::Kind::requester, Notify::requester),
      responder_(*this, network.parameters().responder, Notification::Kind::responder, Notify::responder),
      completer_(*this),
      least_rma_(std::min({network.parameters().requester, network.parameters().responder,
                           network.parameters().completer, network.parameters().velo_receive_engine})) {}

sim::Engine& ExtollNic::engine() const {
  return network_.engine();
}

const ExtollParameters& ExtollNic::parameters() const {
  return network_.parameters();
}

VeloPacket& ExtollNic::take_velo() {
  return *network_.velo_packets().take(partition_);
}

RmaPacket& ExtollNic::take_rma() {
  return *network_.rma_packets().take(partition_);
}

void ExtollNic::give(VeloPacket& packet) {
  network_.velo_packets().give(partition_, &packet);
}

void ExtollNic::give(RmaPacket& packet) {
  network_.rma_packets().give(partition_, &packet);
}

void ExtollNic::walk_arrivals(sim::StateWalk& walk) {
  from_router_.walk(walk);
  to_host_.walk(walk);
  completer_.walk(walk);
}

bool ExtollNic::has_no_rma(SimTime now, SimTime until) const {
  return !has_met_rma_ && until < now + least_rma_;
}

SimTime ExtollNic::on_path(const sim::Packet& packet) const {
  return network_.fabric().on_wire(packet.bytes - parameters().header);
}

void ExtollNic::inject(sim::Packet& packet, SimTime now) {
  if (kind_of(packet) == PacketKind::velo) {
    const auto& velo = static_cast<VeloPacket&>(packet);
    network_.port(velo.status.source).velo_left(velo, now);
  }
  packet.watched = 1;
  network_.fabric().inject(packet, now);
}

void ExtollNic::departed(const sim::Packet& packet, SimTime end) {
  switch (kind_of(packet)) {
    case PacketKind::velo:
    case PacketKind::drop_notice:
      velo_.departed(end);
      break;
    case PacketKind::put:
    case PacketKind::get_request:
      requester_.departed(end);
      break;
    case PacketKind::response:
      responder_.departed(end);
      break;
  }
}

// Six links can bring packets at once. The path into the card is as wide as one link and takes one packet after the
// other.
SimTime ExtollNic::arrived(sim::Packet& packet, SimTime now) {
  const SimTime wire = network_.fabric().on_wire(packet.bytes);
  const SimTime in_card = from_router_.serve(std::max(now, packet.tail - wire), wire);
  if (kind_of(packet) != PacketKind::velo) meet_rma();
  switch (kind_of(packet)) {
    case PacketKind::velo:
    case PacketKind::drop_notice:
      velo_.arrived(static_cast<VeloPacket&>(packet), in_card);
      break;
    case PacketKind::put:
    case PacketKind::response:
      completer_.arrived(static_cast<RmaPacket&>(packet), in_card);
      break;
    case PacketKind::get_request:
      completer_.passed_by(static_cast<RmaPacket&>(packet), in_card);
      break;
  }
  return in_card;
}

void ExtollNic::serve_get(RmaPacket& request, SimTime now) {
  network_.port(request.peer).require_registered(request.read_at, request.total, "get", request.owner);
  responder_.accept({PacketKind::response, request.notify, request.peer, request.owner, request.read_at,
                     request.write_at, request.total, now});
  give(request);
}

}  // namespace gasmeter::networks::extoll

// LAPI's work on packets that have arrived.
#include <algorithm>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/lapi/lapi_network.hpp"
#include "gasmeter/networks/lapi/lapi_task.hpp"

namespace gasmeter::networks::lapi {

// A core that waits or is inside LAPI takes no interrupt. A core that has been interrupted takes no further one before
// it has polled.
void LapiTask::deliver(LapiPacket& packet, SimTime now) {
  sim::Engine& engine = network_.engine();
  if (network_.progress() == Progress::interrupt && !is_interrupted_ && engine.computes(rank())) {
    is_interrupted_ = true;
    ++counters_.interrupts;
    engine.interrupt(rank(), parameters().interrupt, nullptr);
  }
  fifo_.write_now(&packet, now);
}

// Software may watch the memory, unless the task computes.
void LapiTask::memory_changed(SimTime now) {
  if (!network_.engine().computes(rank())) network_.engine().wake(rank(), now);
}

std::optional<Event> LapiTask::probe() {
  host_.synchronise();
  is_interrupted_ = false;
  if (!owed_.empty()) answer_gets();
  if (fifo_.empty()) return std::nullopt;
  LapiPacket& packet = *fifo_.take();
  host_.pay(conduit::SharedPrice::line_transfer);
  host_.spend(parameters().per_packet, sim::Step::poll);
  const Event event = handle(packet);
  adapter().give(packet);
  return event;
}

Event LapiTask::handle(LapiPacket& packet) {
  const Rank from = packet.source;
  switch (static_cast<PacketKind>(packet.kind)) {
    case PacketKind::amsend:
      return take_amsend(packet);
    case PacketKind::put:
      return take_put(packet);
    case PacketKind::get:
      owed_.push_back({from, packet.read_at, packet.write_at, packet.total, 0, packet.counter});
      taken(from);
      answer_gets();
      return {};
    case PacketKind::get_data:
      land(packet.write_at, packet);
      taken(from);
      if (!packet.last) return {};
      return {Event::Type::completion, from, packet.counter};
    case PacketKind::acknowledgement:
      peers_[index(from)].on_the_way -= packet.packets;
      return {};
    case PacketKind::put_done:
      return {Event::Type::completion, from, packet.counter};
    case PacketKind::rdma_put_done:
    case PacketKind::rdma_data:
      --rdma_;
      return {Event::Type::completion, from, packet.counter};
    case PacketKind::rdma_put:
    case PacketKind::rdma_get:
      break;
  }
  throw UsageError("lapi: a FIFO holds what is the adapter's own");
}

// Copy data from the FIFO to their destination.
void LapiTask::land(std::byte* to, const LapiPacket& packet) {
  const Bytes bytes = packet.size - packet.user_header;
  if (bytes == 0) return;
  host_.synchronise();  // node mates and adapters may read the destination
  host_.copy(to, packet.payload.data() + packet.user_header, bytes);
}

Event LapiTask::take_amsend(const LapiPacket& packet) {
  const LapiParameters& p = parameters();
  Peer& peer = peers_[index(packet.source)];
  if (packet.before == 0) {
    if (handler_ == nullptr) throw UsageError("lapi: a message comes to a task without a header handler");
    host_.spend(p.header_handler, sim::Step::dispatch);
    peer.landing = handler_->begin(packet.source, std::span(packet.payload).first(packet.user_header), packet.total);
  }
  land(peer.landing.to + packet.before, packet);
  taken(packet.source);
  if (!packet.last) return {};
  if (peer.landing.by_handler) host_.spend(p.completion_handler, sim::Step::handler);
  return {Event::Type::message, packet.source, peer.landing.counter};
}

Event LapiTask::take_put(const LapiPacket& packet) {
  land(packet.write_at, packet);
  taken(packet.source);
  if (!packet.last) return {};
  if (packet.counter != kNoCounter) {
    host_.spend(parameters().per_packet);
    LapiPacket& done = adapter().make(PacketKind::put_done, rank(), packet.source);
    done.counter = packet.counter;
    hand_over(done);
  }
  if (packet.target_counter == kNoCounter) return {};
  return {Event::Type::target, packet.source, packet.target_counter};
}

// Acknowledge a quarter of a window at a time.
void LapiTask::taken(Rank from) {
  Peer& peer = peers_[index(from)];
  peer.has_written = true;
  if (++peer.taken < acknowledged_at()) return;
  ++counters_.acknowledgements;
  host_.spend(parameters().per_packet);
  LapiPacket& packet = adapter().make(PacketKind::acknowledgement, rank(), from);
  packet.packets = peer.taken;
  peer.taken = 0;
  hand_over(packet);
}

// Send data of gets as far as there is room. A peer without room does not hold up others.
void LapiTask::answer_gets() {
  const LapiParameters& p = parameters();
  for (Owed& owed : owed_) {
    while (!owed.is_done && has_room(owed.to, 1)) {
      ++slots_;
      ++peers_[index(owed.to)].on_the_way;
      host_.spend(p.per_packet);
      LapiPacket& packet = adapter().make(PacketKind::get_data, rank(), owed.to);
      const Bytes part = std::min(owed.bytes - owed.sent, p.mtu);
      load(packet, owed.from + owed.sent, part);
      packet.write_at = owed.remote + owed.sent;
      packet.counter = owed.counter;
      owed.sent += part;
      owed.is_done = packet.last = owed.sent == owed.bytes;
      hand_over(packet);
    }
  }
  std::erase_if(owed_, [](const Owed& owed) { return owed.is_done; });
  host_.synchronise();
}

}  // namespace gasmeter::networks::lapi

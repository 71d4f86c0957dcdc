#include "gasmeter/networks/extoll/extoll_port.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/networks/extoll/extoll_network.hpp"

namespace gasmeter::networks::extoll {

using conduit::SharedPrice;

namespace {

std::string text_of(Rank rank) {
  return "rank " + std::to_string(index(rank));
}

}  // namespace

ExtollPort::ExtollPort(ExtollNetwork& network, sim::ModelHost host)
    : network_(network), nic_(network.nic(host.node())), host_(host), registered_("extoll", host.rank()) {}

const ExtollParameters& ExtollPort::parameters() const {
  return network_.parameters();
}

Bytes ExtollPort::reserved_bytes() const {
  const ExtollParameters& p = parameters();
  return p.mailbox_slots * (kVeloPayload + kVeloStatus) + p.notification_slots * p.notification;
}

unsigned ExtollPort::certain_slots() const {
  return parameters().mailbox_slots - (parameters().read_pointer_update - 1);
}

void ExtollPort::check_rank(Rank peer) const {
  if (index(peer) >= network_.engine().ranks()) {
    throw UsageError("extoll: " + text_of(peer) + " does not exist; there are " +
                     std::to_string(network_.engine().ranks()));
  }
}

// ---- VELO

bool ExtollPort::has_velo_room_now(unsigned packets) {
  host_.synchronise();
  return in_card_ + packets <= kVeloSlots;
}

void ExtollPort::wake_on_velo_room(unsigned wanted) {
  wanted_ = wanted_ == 0 ? wanted : std::min(wanted_, wanted);
}

Status ExtollPort::velo_send(Rank to, std::span<const std::byte> payload, std::uint8_t tag) {
  const ExtollParameters& p = parameters();
  check_rank(to);
  if (payload.size() > p.velo_payload) {
    throw UsageError("extoll: VELO packet of " + std::to_string(payload.size()) + " bytes; at most " +
                     std::to_string(p.velo_payload) + " fit");
  }
  if (!has_velo_room(1)) {
    ++counters_.refused;
    wake_on_velo_room(1);
    return Status::no_resource;
  }
  VeloPacket& packet = velo_packet();
  if (!payload.empty()) std::memcpy(packet.payload.data(), payload.data(), payload.size());
  velo_store(packet, to, payload.size(), tag);
  return Status::ok;
}

VeloPacket& ExtollPort::velo_packet() {
  return nic_.take_velo();
}

void ExtollPort::velo_store(VeloPacket& packet, Rank to, Bytes payload, std::uint8_t tag) {
  const ExtollParameters& p = parameters();
  packet.status = {rank(), network_.process_of(to), tag, static_cast<std::uint8_t>(payload)};
  packet.fabric = &network_.fabric();
  packet.from = index(host_.node());
  packet.to = index(network_.node_of(to));
  packet.kind = static_cast<std::uint8_t>(PacketKind::velo) & 0x7fU;
  packet.bytes = static_cast<std::uint16_t>(p.header + kVeloStatus + (payload + 7) / 8 * 8);
  ++in_card_;
  ++counters_.velo_sent;
  host_.pay(SharedPrice::pio_store, p.velo_payload + kVeloStatus);
  packet.becomes(&ExtollPort::on_stored);
  host_.act(packet);  // bursts of the node's ranks reach the card in order of time
}

void ExtollPort::on_stored(sim::Action& action, SimTime now) {
  auto& packet = static_cast<VeloPacket&>(action);
  ExtollNetwork::of(packet).nic(NodeId{packet.from}).velo().stored(packet, now);
}

void ExtollPort::velo_left(const VeloPacket& packet, SimTime now) {
  if (packet.from == packet.to) ++homeward_;
  make_room(now);
}

void ExtollPort::make_room(SimTime now) {
  --in_card_;
  if (wanted_ == 0 || in_card_ + wanted_ > kVeloSlots) return;
  wanted_ = 0;
  network_.engine().wake(rank(), now);
}

Mailed ExtollPort::deliver(VeloPacket& packet) {
  ExtollPort* const same_card = packet.from == packet.to ? &network_.port(packet.status.source) : nullptr;
  if (same_card != nullptr) --same_card->homeward_;
  if (occupied_ != parameters().mailbox_slots) {
    take_slot();
    return Mailed::to_slot;
  }
  if (!holds_) {
    ++counters_.velo_dropped;
    return Mailed::dropped;
  }
  held_.push(&packet);
  if (same_card != nullptr) ++same_card->in_card_;  // the packet keeps its sender's place in the card
  ++counters_.velo_held;
  counters_.most_held = std::max<std::uint64_t>(counters_.most_held, ++held_count_);
  return Mailed::held;
}

void ExtollPort::take_slot() {
  ++counters_.velo_received;
  counters_.deepest_mailbox = std::max<std::uint64_t>(counters_.deepest_mailbox, ++occupied_);
}

void ExtollPort::written(VeloPacket& packet, SimTime now) {
  unread_.push(&packet);
  network_.engine().wake(rank(), now);
}

// A packet that has arrived is the next one, whatever else arrives before the rank's clock.
const VeloPacket* ExtollPort::mailbox_next() {
  if (unread_.empty() || !host_.runs_ahead()) host_.synchronise();
  if (unread_.empty()) return nullptr;
  sim::Packet* const packet = unread_.pop();
  taken_.push(packet);
  host_.pay(SharedPrice::line_transfer, kVeloPayload + kVeloStatus);
  return static_cast<const VeloPacket*>(packet);
}

void ExtollPort::mailbox_free() {
  nic_.give(static_cast<VeloPacket&>(*taken_.pop()));
  if (++freed_ < parameters().read_pointer_update) return;
  const unsigned freed = freed_;
  freed_ = 0;
  host_.charge_shared(SharedPrice::pio_store, Velo::kReadPointer);
  host_.synchronise();
  nic_.velo().read_pointer({this, freed}, host_.now());
}

// Write held packets into the slots that are free now.
void ExtollPort::slots_freed(unsigned slots, SimTime now) {
  occupied_ -= slots;
  while (held_count_ != 0 && occupied_ != parameters().mailbox_slots) {
    auto& packet = static_cast<VeloPacket&>(*held_.pop());
    --held_count_;
    take_slot();
    nic_.velo().write_held(packet, now);
    if (packet.from == packet.to) network_.port(packet.status.source).make_room(now);
  }
}

// ---- RMA

// The price depends on the whole pages of the length, not on the address: the same program costs the same in every
// process.
void ExtollPort::register_memory(std::span<std::byte> memory) {
  host_.charge_shared(SharedPrice::registration, conduit::whole_pages(memory.size()));
  host_.synchronise();
  admit(memory);
}

// Most programs send packets alone. Then no RMA can be done, and the rank need not wait.
void ExtollPort::await_rma() {
  if (!host_.runs_ahead() || !nic_.has_no_rma(host_.seen_until(), host_.now())) host_.synchronise();
}

unsigned ExtollPort::rma_room() {
  host_.synchronise();
  return kRmaCommands - commands_;
}

bool ExtollPort::take_command() {
  if (rma_room() == 0) {
    ++counters_.refused;
    wake_on_rma_room();
    return false;
  }
  ++commands_;
  nic_.meet_rma();
  host_.charge_shared(SharedPrice::pio_store, parameters().descriptor);
  host_.synchronise();
  return true;
}

// Return when the descriptor that has just been stored is in the card.
SimTime ExtollPort::command_there() {
  return nic_.to_card().end(parameters().descriptor, host_.now());
}

Status ExtollPort::rma_put(Rank to, void* remote, const void* local, Bytes bytes, Notify notify) {
  check_rank(to);
  require_registered(local, bytes, "put", rank());
  if (!take_command()) return Status::no_resource;
  ++counters_.puts;
  nic_.requester().accept({PacketKind::put, notify, rank(), to, static_cast<const std::byte*>(local),
                           static_cast<std::byte*>(remote), bytes, command_there()});
  return Status::ok;
}

Status ExtollPort::rma_get(Rank from, void* local, const void* remote, Bytes bytes, Notify notify) {
  check_rank(from);
  require_registered(local, bytes, "get", rank());
  if (!take_command()) return Status::no_resource;
  ++counters_.gets;
  nic_.requester().accept({PacketKind::get_request, notify, rank(), from, static_cast<const std::byte*>(remote),
                           static_cast<std::byte*>(local), bytes, command_there()});
  return Status::ok;
}

void ExtollPort::command_done(SimTime now) {
  --commands_;
  if (!wants_command_) return;
  wants_command_ = false;
  network_.engine().wake(rank(), now);
}

// A rank that waits for room may try again whenever it is woken, so that the effect of a wake is unknown.
sim::WakeEffect ExtollPort::effect_of_write(const std::byte* memory, Bytes bytes) const {
  const sim::WakeEffect effect = network_.engine().effect_of_write(rank(), memory, bytes);
  const bool tries_again = wanted_ != 0 || wants_command_;
  return effect == sim::WakeEffect::one_poll && tries_again ? sim::WakeEffect::unknown : effect;
}

// Each write wakes the rank, since software may watch the memory itself.
void ExtollPort::written(const RmaPacket& packet, SimTime now) {
  require_registered(packet.write_at, packet.size, "transfer", packet.owner);
  if (packet.size != 0) std::memcpy(packet.write_at, packet.payload.data(), packet.size);
  if (!network_.streams().is_unheard(packet)) network_.engine().wake(rank(), now);
}

void ExtollPort::notify(const Notification& notification, SimTime now) {
  ++counters_.notifications;
  if (notifications_.size() - first_notification_ >= parameters().notification_slots) ++counters_.held_back;
  notifications_.push_back(notification);
  network_.engine().wake(rank(), now);
}

std::optional<Notification> ExtollPort::notification_next() {
  host_.synchronise();
  if (first_notification_ == notifications_.size()) return std::nullopt;
  const Notification next = notifications_[first_notification_];
  if (++first_notification_ == notifications_.size()) {
    notifications_.clear();
    first_notification_ = 0;
  }
  host_.charge_shared(SharedPrice::line_transfer, parameters().notification);
  return next;
}

}  // namespace gasmeter::networks::extoll

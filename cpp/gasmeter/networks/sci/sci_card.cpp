#include "gasmeter/networks/sci/sci_card.hpp"

#include <algorithm>
#include <span>

#include "gasmeter/networks/sci/dma_engine.hpp"
#include "gasmeter/networks/sci/sci_network.hpp"
#include "gasmeter/networks/sci/segment.hpp"

namespace gasmeter::networks::sci {

namespace {

// An echo repeats the packet's kind: the owner of the transaction and the dimension of the first ring. A packet that
// has turned is also echoed in its second ring, to the card where it turned. That card ignores the echo.
constexpr unsigned kDimensions = 4;
static_assert(SciCard::kNobody * kDimensions + 2 < sim::kMostKinds);

constexpr std::uint8_t kind_of(std::uint8_t slot, std::uint32_t dimension) {
  return static_cast<std::uint8_t>(slot * kDimensions + dimension);
}
constexpr std::uint8_t slot_of(std::uint8_t kind) {
  return kind / kDimensions;
}

// Payloads have three sizes on the wire. The request of a read has none.
constexpr Bytes on_wire(const SciPacket& packet) {
  if (packet.op == PacketOp::read) return 0;
  if (packet.size <= kLeastPacket) return kLeastPacket;
  return packet.size <= kLine ? kLine : kLargestPacket;
}

}  // namespace

SciCard::SciCard(SciNetwork& network, NodeId node)
    : network_(network),
      node_(node),
      partition_(network.engine().partition_of(node)),
      dma_(std::make_unique<DmaEngine>(*this)),
      slots_(kNobody + 1U),
      sending_(network.engine(), node, *this),
      receiving_(network.engine(), node, *this),
      reading_(network.engine(), node, *this) {}

SciCard::~SciCard() = default;

sim::Engine& SciCard::engine() const {
  return network_.engine();
}

const SciParameters& SciCard::parameters() const {
  return network_.parameters();
}

SciPacket& SciCard::take() {
  return *network_.packets().take(partition_);
}

// ---- transactions

bool SciCard::transact(SciPacket& packet, SimTime now) {
  if (packet.to == index(node_)) {  // the bridge turns the packet round
    receiving_.push(packet, now + parameters().receive);
    return true;
  }
  ++slots_[packet.slot].open;
  ++transactions_;
  if (open_ < parameters().outstanding) {
    packet.releases = false;
    start(packet, now);
    return true;
  }
  ++held_;
  waiting_.push(&packet);
  return false;
}

void SciCard::start(SciPacket& packet, SimTime now) {
  ++open_;
  sending_.push(packet, now + parameters().send);
}

void SciCard::leave(SciPacket& packet, SimTime now) {
  packet.from = index(node_);
  packet.kind = kind_of(packet.slot, network_.first_dimension(packet.from, packet.to)) & 127U;
  packet.watched = 0;
  packet.bytes = static_cast<std::uint16_t>(parameters().header + on_wire(packet));
  network_.fabric().inject(packet, now);
}

void SciCard::echoed(const sim::Packet& echo, SimTime now) {
  const std::uint8_t slot = slot_of(echo.kind);
  if (slot == kNobody || echo.kind != kind_of(slot, network_.first_dimension(echo.to, echo.from))) return;
  close(slot, now);
}

void SciCard::close(std::uint8_t number, SimTime now) {
  --open_;
  Slot& slot = slots_[number];
  --slot.open;
  if (!waiting_.empty()) {
    auto& packet = static_cast<SciPacket&>(*waiting_.pop());
    const bool releases = packet.releases;
    const std::uint8_t waited = packet.slot;
    start(packet, now);
    if (releases) {
      waited == kDma ? dma_->go_on(now) : engine().resume(network_.rank_of(node_, waited), now);
    }
  }
  if (slot.open != 0 || !slot.is_awaited) return;
  slot.is_awaited = false;
  number == kDma ? dma_->ended(now) : engine().resume(network_.rank_of(node_, number), now);
}

// ---- arrivals

// Bytes pass on to host memory as they arrive. A packet keeps its place before the card until its last byte has passed.
SimTime SciCard::arrived(SciPacket& packet, SimTime now) {
  const SimTime on_host_link = SimTime::of_bytes(parameters().host_link_per_byte_fs, packet.size);
  const SimTime work = std::max(network_.fabric().on_wire(packet.bytes), on_host_link);
  const SimTime in_host = to_host_.serve(std::max(now, packet.tail - work), work);
  if (packet.op == PacketOp::read) {
    reading_.push(packet, in_host + parameters().read);
  } else {
    receiving_.push(packet, in_host + parameters().receive);
  }
  return in_host;
}

void SciCard::deliver(SciPacket& packet, SimTime now) {
  const std::span<const std::byte> bytes(packet.payload.data(), packet.size);
  if (packet.op == PacketOp::response) {
    std::copy(bytes.begin(), bytes.end(), packet.into);
    engine().resume(packet.owner, now);
  } else {
    packet.segment->store(packet.at, bytes);
    engine().wake(packet.owner, now);
  }
  network_.packets().give(partition_, &packet);
}

// The bridge has read its host's memory. Return those bytes to the reader.
void SciCard::answer(SciPacket& packet, SimTime now) {
  packet.segment->load(packet.at, std::span(packet.payload.data(), packet.size));
  packet.op = PacketOp::response;
  packet.to = packet.from;
  packet.owner = network_.rank_of(NodeId{packet.to}, packet.slot);
  packet.slot = kNobody;
  sending_.push(packet, now + parameters().send);
}

}  // namespace gasmeter::networks::sci

#include "gasmeter/networks/sci/dma_engine.hpp"

#include <algorithm>
#include <cstring>

#include "gasmeter/networks/sci/sci_card.hpp"
#include "gasmeter/networks/sci/segment.hpp"

namespace gasmeter::networks::sci {

void DmaEngine::post(const DmaTransfer& transfer, SimTime now) {
  transfers_.push_back(transfer);
  if (transfers_.size() == 1) begin(now);
}

void DmaEngine::begin(SimTime now) {
  sent_ = 0;
  begun_ = false;
  card_.engine().post(card_.node(), card_.node(), now + card_.parameters().dma_start, *this);
}

void DmaEngine::on_due(sim::Action& action, SimTime now) {
  auto& self = static_cast<DmaEngine&>(action);
  if (self.begun_) return self.send_next(now);
  self.begun_ = true;
  self.go_on(now);
}

// Packets end where the segment's blocks do, as packets of stores do.
Bytes DmaEngine::next_size() const {
  const DmaTransfer& transfer = transfers_.front();
  const Bytes block = card_.parameters().gather;
  return std::min(block - (transfer.at + sent_) % block, transfer.bytes - sent_);
}

void DmaEngine::read_next(SimTime now) {
  const SimTime reading = SimTime::of_bytes(card_.parameters().dma_per_byte_fs, next_size());
  card_.engine().post(card_.node(), card_.node(), now + reading, *this);
}

// A packet carries the bytes that memory holds when all of the packet has been read.
void DmaEngine::send_next(SimTime now) {
  const DmaTransfer& transfer = transfers_.front();
  SciPacket& packet = card_.take();
  packet.segment = transfer.segment;
  packet.at = transfer.at + sent_;
  packet.owner = transfer.to;
  packet.op = PacketOp::write;
  packet.releases = true;
  packet.slot = SciCard::kDma;
  packet.size = static_cast<std::uint8_t>(next_size());
  packet.to = index(card_.engine().node_of(transfer.to));
  std::memcpy(packet.payload.data(), transfer.from + sent_, packet.size);
  sent_ += packet.size;
  if (card_.transact(packet, now)) go_on(now);
}

void DmaEngine::go_on(SimTime now) {
  if (sent_ != transfers_.front().bytes) return read_next(now);
  if (card_.is_quiet(SciCard::kDma)) return ended(now);
  card_.await(SciCard::kDma);
}

void DmaEngine::ended(SimTime now) {
  const DmaTransfer transfer = transfers_.front();
  transfers_.pop_front();
  *transfer.done = true;
  card_.engine().wake(transfer.by, now);
  if (!transfers_.empty()) begin(now);
}

}  // namespace gasmeter::networks::sci

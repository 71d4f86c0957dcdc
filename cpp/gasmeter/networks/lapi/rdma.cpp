#include "gasmeter/networks/lapi/rdma.hpp"

#include <algorithm>

#include "gasmeter/networks/lapi/adapter.hpp"

namespace gasmeter::networks::lapi {

RdmaTransfer& RdmaUnit::take(const RdmaCommand& command) {
  RdmaTransfer* transfer = nullptr;
  if (free_.empty()) {
    transfer = &transfers_.emplace_back(*this);
  } else {
    transfer = free_.back();
    free_.pop_back();
  }
  transfer->command_ = command;
  transfer->sent_ = 0;
  transfer->inside_ = 0;
  transfer->leaving_count_ = 0;
  transfer->has_begun_ = transfer->all_begun_ = transfer->resumes_ = false;
  return *transfer;
}

void RdmaUnit::start(const RdmaCommand& command, SimTime now) {
  adapter_.engine().post(adapter_.node(), adapter_.node(), now + adapter_.parameters().rdma_latency, take(command));
}

void RdmaTransfer::on_due(sim::Action& self, SimTime now) {
  auto& transfer = static_cast<RdmaTransfer&>(self);
  RdmaUnit& unit = transfer.unit_;
  if (!transfer.has_begun_) return unit.begin(transfer, now);
  transfer.resumes_ = false;
  while (transfer.leaving_count_ != 0 && transfer.leaving_[0] <= now) {
    std::copy(transfer.leaving_.begin() + 1, transfer.leaving_.end(), transfer.leaving_.begin());
    --transfer.leaving_count_;
  }
  unit.send(transfer, now);
}

void RdmaUnit::begin(RdmaTransfer& transfer, SimTime now) {
  const RdmaCommand& command = transfer.command_;
  if (!command.is_get) return send(transfer, now);
  LapiPacket& packet = adapter_.make(PacketKind::rdma_get, command.origin, command.peer);
  packet.read_at = command.remote;
  packet.write_at = command.local;
  packet.total = command.bytes;
  packet.counter = command.counter;
  free_.push_back(&transfer);
  adapter_.send(packet, now);
}

void RdmaUnit::answer(const LapiPacket& asks, SimTime now) {
  send(take({.is_get = true,
             .origin = asks.target,
             .peer = asks.source,
             .local = const_cast<std::byte*>(asks.read_at),
             .remote = asks.write_at,
             .bytes = asks.total,
             .counter = asks.counter}),
       now);
}

// A packet is read while earlier ones leave, so that the link does not wait for host memory.
void RdmaUnit::send(RdmaTransfer& transfer, SimTime now) {
  const RdmaCommand& command = transfer.command_;
  transfer.has_begun_ = true;
  while (!transfer.all_begun_ && transfer.inside_ + transfer.leaving_count_ < RdmaTransfer::kAhead) {
    LapiPacket& packet =
        adapter_.make(command.is_get ? PacketKind::rdma_data : PacketKind::rdma_put, command.origin, command.peer);
    const Bytes size = std::min(command.bytes - transfer.sent_, adapter_.parameters().mtu);
    packet.read_at = command.local + transfer.sent_;
    packet.write_at = command.remote + transfer.sent_;
    packet.size = static_cast<std::uint16_t>(size);
    packet.counter = command.counter;
    packet.transfer = &transfer;
    packet.watched = 1;
    transfer.sent_ += size;
    transfer.all_begun_ = packet.last = transfer.sent_ == command.bytes;
    ++transfer.inside_;
    adapter_.send(packet, now);
  }
  go_on_later(transfer);
}

void RdmaUnit::go_on_later(RdmaTransfer& transfer) {
  if (transfer.all_begun_ || transfer.resumes_ || transfer.leaving_count_ == 0) return;
  transfer.resumes_ = true;
  adapter_.engine().post(adapter_.node(), adapter_.node(), transfer.leaving_[0], transfer);
}

void RdmaUnit::departed(const LapiPacket& packet, SimTime end) {
  RdmaTransfer& transfer = *packet.transfer;
  --transfer.inside_;
  transfer.leaving_[transfer.leaving_count_++] = end;
  go_on_later(transfer);
  if (transfer.all_begun_ && !transfer.resumes_ && transfer.inside_ == 0) free_.push_back(&transfer);
}

}  // namespace gasmeter::networks::lapi

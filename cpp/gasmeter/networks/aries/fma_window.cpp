#include "gasmeter/networks/aries/fma_window.hpp"

#include <algorithm>

#include "gasmeter/networks/aries/aries_network.hpp"

namespace gasmeter::networks::aries {

void FmaWindow::add(RequestPacket& request, SimTime now) {
  const bool rests = waiting_.empty();
  waiting_.push(&request);
  if (rests) go_on(now);
}

void FmaWindow::on_due(sim::Action& self, SimTime now) {
  static_cast<FmaWindow&>(self).go_on(now);
}

void FmaWindow::go_on(SimTime now) {
  while (!waiting_.empty()) {
    const SimTime at = due(now);
    if (at > now) {
      nic_.engine().post(nic_.node(), nic_.node(), at, *this);
      return;
    }
    leave(now);
  }
}

// The core has stored all of a request that fits one packet.
void FmaWindow::take_request(const RequestPacket& request, SimTime now) {
  is_taken_ = true;
  by_core_ = now;
  if (request.data.empty()) {
    is_asked_ = true;
    stored_ = nic_.from_host_by(now, AriesNic::payload_of(request));
    begin_ = nic_.take_request(stored_);
  } else {
    begin_ = nic_.take_request(now);
    stored_ = std::max(stored_, begin_);
  }
}

// Return when the next packet leaves, or has to be looked at again. A packet leaves so early that its last byte leaves
// when it has been stored. Stores of many cores share the path to the card, which is asked at that time.
SimTime FmaWindow::due(SimTime now) {
  const auto& request = static_cast<RequestPacket&>(*waiting_.front());
  if (!is_taken_) take_request(request, now);
  if (request.data.empty()) return std::max(begin_, stored_);
  const AriesParameters& p = nic_.parameters();
  const Bytes size = static_cast<DataPacket&>(*request.data.front()).size;
  const SimTime on_link = nic_.on_link(p.on_wire(size));
  if (!is_asked_) {
    by_core_ = stored_ + SimTime::of_bytes(p.pio_per_byte_fs, size);
    if (by_core_ - on_link > now) return by_core_ - on_link;
    is_asked_ = true;
    stored_ = nic_.from_host_by(by_core_, size);
  }
  return std::max(now, stored_ - on_link);
}

// The receiver owns the request from the last packet on. Local events are therefore written before.
void FmaWindow::leave(SimTime now) {
  auto& request = static_cast<RequestPacket&>(*waiting_.front());
  const bool is_piece = !request.data.empty();
  sim::Packet& packet = is_piece ? *request.data.pop() : request;
  is_asked_ = false;
  if (!is_piece || request.data.empty()) {
    (void)waiting_.pop();
    is_taken_ = false;
    if ((request.cq_mode & kLocalEvent) != 0 && is_put(request.type)) nic_.tell_local(request, stored_);
  }
  nic_.inject(packet, now);
}

}  // namespace gasmeter::networks::aries

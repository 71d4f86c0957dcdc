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
  auto& window = static_cast<FmaWindow&>(self);
  window.leave(now);
  window.go_on(now);
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

// When the next packet leaves. Stores of many cores share the way to the card. A piece leaves so early that its last
// byte does when that has been stored.
SimTime FmaWindow::due(SimTime now) {
  const auto& request = static_cast<RequestPacket&>(*waiting_.front());
  const AriesParameters& p = nic_.parameters();
  const bool is_whole = request.data.empty();
  if (is_whole) stored_ = nic_.from_host_by(now, nic_.payload_of(request));
  if (!begun_) {
    begun_ = true;
    begin_ = nic_.take_request(is_whole ? stored_ : now);
    if (!is_whole) stored_ = std::max(stored_, begin_);
  }
  if (is_whole) return std::max(begin_, stored_);
  const Bytes size = static_cast<DataPacket&>(*request.data.front()).size;
  const SimTime by_core = stored_ + SimTime{p.pio_per_byte_fs * static_cast<std::int64_t>(size) / 1000};
  stored_ = nic_.from_host_by(by_core, size);
  return std::max(now, stored_ - nic_.on_link(p.on_wire(size)));
}

// Whoever it goes to has the request with its last packet: local events come before that.
void FmaWindow::leave(SimTime now) {
  auto& request = static_cast<RequestPacket&>(*waiting_.front());
  const bool is_piece = !request.data.empty();
  sim::Packet& packet = is_piece ? *request.data.pop() : request;
  const bool is_last = !is_piece || request.data.empty();
  if (is_last) {
    (void)waiting_.pop();
    begun_ = false;
    if ((request.cq_mode & kLocalEvent) != 0 && is_put(request.type)) nic_.tell_local(request, stored_);
  }
  nic_.inject(packet, now);
}

}  // namespace gasmeter::networks::aries

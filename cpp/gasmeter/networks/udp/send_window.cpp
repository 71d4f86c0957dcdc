#include "gasmeter/networks/udp/send_window.hpp"

#include <algorithm>
#include <cmath>

namespace gasmeter::networks::udp {
namespace {

constexpr Bytes kLeastWindow = 128 * 1024;
constexpr std::size_t kMostAtOnce = 8;  // datagrams sent again when a timer has run out

}  // namespace

void RoundTrip::sample(SimTime measured) {
  if (smoothed_.ps == 0) {
    smoothed_ = measured;
    deviation_ = {measured.ps / 2};
  } else {
    deviation_ = {(3 * deviation_.ps + std::abs(smoothed_.ps - measured.ps)) / 4};
    smoothed_ = {(7 * smoothed_.ps + measured.ps) / 8};
  }
  recover();
}

void RoundTrip::recover() {
  if (smoothed_.ps != 0) timeout_ = std::clamp(smoothed_ + deviation_ * 4, kLeastTimeout, kMostTimeout);
}

void RoundTrip::back_off() {
  timeout_ = std::min(timeout_ * 2, kMostTimeout);
}

SendWindow::SendWindow(std::uint64_t first_sequence, Bytes most_bytes)
    : slots_(std::make_unique<Slot[]>(kSlots)),
      first_(first_sequence),
      unsent_(first_sequence),
      next_(first_sequence),
      highest_(first_sequence),
      most_bytes_(most_bytes),
      window_bytes_(most_bytes) {}

Slot& SendWindow::append(std::uint64_t& sequence) {
  sequence = next_++;
  Slot& s = slot(sequence);
  s.acknowledged = false;
  s.transfer = nullptr;
  s.payload = nullptr;
  s.payload_bytes = 0;
  s.records = nullptr;
  s.operations.clear();
  return s;
}

void SendWindow::mark_sent(std::uint64_t count, SimTime now) {
  if (nothing_in_flight()) {
    timer_ = now + round_trip_.timeout();
    heard_ = now;  // the peer owes an answer from now on
  }
  for (; count != 0; --count) {
    Slot& s = slot(unsent_++);
    s.sent = now;
    bytes_in_flight_ += s.bytes() + kOverhead;
  }
}

void SendWindow::progress(SimTime now) {
  round_trip_.recover();
  timer_ = now + round_trip_.timeout();
}

void SendWindow::collect_lost(SimTime now, std::vector<std::uint64_t>& lost) {
  lost.clear();
  if (nothing_in_flight()) return;
  // An overtaken datagram was sent at least a round trip ago, and several later ones have arrived.
  if (highest_ - first_ <= kSlots) {
    for (std::uint64_t sequence = first_; sequence - first_ + kReordering < highest_ - first_; ++sequence) {
      const Slot& s = slot(sequence);
      if (!s.acknowledged && now - s.sent > round_trip_.smoothed() + round_trip_.smoothed()) lost.push_back(sequence);
    }
  }
  if (now < timer_) return;
  lost.clear();
  for (std::uint64_t sequence = first_; sequence != unsent_ && lost.size() < kMostAtOnce; ++sequence) {
    const Slot& s = slot(sequence);
    if (!s.acknowledged && (sequence == first_ || now - s.sent >= round_trip_.timeout())) lost.push_back(sequence);
  }
  window_bytes_ = std::min(most_bytes_, std::max(window_bytes_ / 2, kLeastWindow));
  round_trip_.back_off();
  timer_ = now + round_trip_.timeout();
}

void SendWindow::mark_resent(std::uint64_t sequence, SimTime now) {
  Slot& s = slot(sequence);
  s.sent = now;
  resent_ = now;
}

}  // namespace gasmeter::networks::udp

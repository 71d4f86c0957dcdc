#include "gasmeter/networks/ethernet/ethernet_socket.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/ethernet/ethernet_network.hpp"
#include "gasmeter/services/datagram_service.hpp"

namespace gasmeter::networks::ethernet {

EthernetSocket::EthernetSocket(EthernetNetwork& network, sim::ModelHost host, std::uint32_t number)
    : network_(network),
      host_(host),
      number_(number),
      room_(&EthernetSocket::wake, this),
      alarm_(&EthernetSocket::wake, this) {}

bool EthernetSocket::send(Rank to, std::span<const iovec> parts) {
  const EthernetParameters& p = network_.parameters();
  Bytes total = 0;
  for (const iovec& part : parts) total += part.iov_len;
  if (total > services::kLargestDatagram) {
    throw UsageError("ethernet: a datagram of " + std::to_string(total) + " bytes; at most " +
                     std::to_string(services::kLargestDatagram));
  }
  host_.synchronise();
  free_departed(host_.now());
  if (unsent_ != 0 && unsent_ + total > p.send_buffer) {
    refused_ = true;
    if (!departing_.empty()) post(room_, departing_.front().first);
    return false;
  }
  host_.spend(p.send);
  staging_.resize(total);
  Bytes at = 0;
  for (const iovec& part : parts) {
    host_.copy(staging_.data() + at, part.iov_base, part.iov_len);
    at += part.iov_len;
  }
  const bool is_near = network_.engine().node_of(to) == host_.node();
  const auto cut = Fragmentation::of(total, is_near ? kMostPacket : p.mtu);
  const std::uint32_t datagram = next_datagram_++;
  Bytes offset = 0;
  for (std::uint32_t i = 0; i < cut.packets; ++i) {
    if (i != 0) host_.spend(p.fragment);
    host_.synchronise();
    const Bytes bytes = std::min(i == 0 ? cut.first : cut.each, total - offset);
    IpPacket& packet = network_.take_packet(host_.node());
    packet.source = number_;
    packet.target = EthernetNetwork::kSocketsPerRank * index(to) + number_ % EthernetNetwork::kSocketsPerRank;
    packet.datagram = datagram;
    packet.packets = cut.packets;
    packet.offset = static_cast<std::uint32_t>(offset);
    packet.total = static_cast<std::uint32_t>(total);
    const auto from = staging_.begin() + static_cast<std::ptrdiff_t>(offset);
    packet.payload.assign(from, from + static_cast<std::ptrdiff_t>(bytes));
    offset += bytes;
    unsent_ += network_.send(packet, host_.rank(), to, host_.now());
  }
  return true;
}

void EthernetSocket::departed(Bytes bytes, SimTime end) {
  const auto later = std::upper_bound(departing_.begin(), departing_.end(), end,
                                      [](SimTime time, const auto& entry) { return time < entry.first; });
  departing_.insert(later, {end, bytes});
  if (refused_) post(room_, end);
}

void EthernetSocket::free_departed(SimTime now) {
  while (!departing_.empty() && departing_.front().first <= now) {
    unsent_ -= departing_.front().second;
    departing_.pop_front();
  }
}

Bytes EthernetSocket::reserved_bytes() const {
  Bytes sum = unsent_ + waiting_bytes_;
  for (const auto& [end, bytes] : departing_) sum -= end <= host_.now() ? bytes : 0;
  for (const auto& [key, partial] : partial_) sum += partial.bytes.size();
  return sum;
}

bool EthernetSocket::receive(std::vector<std::byte>& datagram) {
  host_.synchronise();
  if (waiting_.empty()) return false;
  datagram = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= datagram.size() + kBookkeeping;
  host_.spend(network_.parameters().receive);
  return true;
}

Bytes EthernetSocket::bytes_waiting() {
  host_.synchronise();
  if (waiting_.empty()) return 0;
  const Bytes bytes = waiting_.front().size();
  host_.spend(network_.parameters().ioctl);
  return bytes;
}

EthernetSocket::Input EthernetSocket::take_in(IpPacket& packet, SimTime now) {
  if (packet.packets == 1) return queue(std::move(packet.payload), now);
  const auto entry = partial_.try_emplace({packet.source, packet.datagram}).first;
  Partial& partial = entry->second;
  partial.bytes.resize(packet.total);
  std::copy(packet.payload.begin(), packet.payload.end(),
            partial.bytes.begin() + static_cast<std::ptrdiff_t>(packet.offset));
  if (++partial.seen != packet.packets) return Input::part;
  const bool is_broken = partial.broken;
  std::vector<std::byte> whole = std::move(partial.bytes);
  partial_.erase(entry);
  return is_broken ? Input::incomplete : queue(std::move(whole), now);
}

bool EthernetSocket::lose(const IpPacket& packet) {
  if (packet.packets == 1) return true;
  const auto entry = partial_.try_emplace({packet.source, packet.datagram}).first;
  entry->second.broken = true;
  if (++entry->second.seen != packet.packets) return false;
  partial_.erase(entry);
  return true;
}

EthernetSocket::Input EthernetSocket::queue(std::vector<std::byte>&& datagram, SimTime now) {
  const Bytes bytes = datagram.size() + kBookkeeping;
  if (waiting_bytes_ + bytes > network_.parameters().receive_buffer) return Input::overflow;
  waiting_bytes_ += bytes;
  waiting_.push_back(std::move(datagram));
  if (network_.waiting() == Waiting::sleep) {
    post(alarm_, now + network_.parameters().wake_up);
  } else {
    network_.engine().wake(host_.rank(), now);
  }
  return Input::whole;
}

// Post a timer. A timer that is posted already comes sooner, so it stays.
void EthernetSocket::post(Timer& timer, SimTime at) {
  if (timer.posted) return;
  timer.posted = true;
  network_.engine().post(host_.node(), host_.node(), at, timer);
}

void EthernetSocket::wake(sim::Action& action, SimTime now) {
  auto& timer = static_cast<Timer&>(action);
  timer.posted = false;
  EthernetSocket& self = *timer.socket;
  if (&timer == &self.room_) self.refused_ = false;
  self.network_.engine().wake(self.host_.rank(), now);
}

}  // namespace gasmeter::networks::ethernet

// Two ranks' datagrams in memory. Each waits until the test delivers, loses or repeats it.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/networks/udp/udp_conduit.hpp"
#include "gasmeter/services/datagram_service.hpp"
#include "networks/udp/made_datagrams.hpp"

namespace gasmeter::networks::udp {

class MemoryDatagrams final : public services::DatagramService {
 public:
  explicit MemoryDatagrams(Bytes largest) {
    limits_ = {.largest = largest,
               .most_per_send = 8,
               .segmentation = false,
               .receive_offload = false,
               .receive_buffer = 256 * 1024};
  }

  [[nodiscard]] const services::DatagramLimits& limits() const override { return limits_; }
  unsigned send(Rank /*to*/, std::span<const iovec> parts, Bytes segment) override {
    if (refuses) return 0;
    MadeDatagram all;
    for (const iovec& part : parts) {
      const auto* data = static_cast<const std::byte*>(part.iov_base);
      all.insert(all.end(), data, data + part.iov_len);
    }
    unsigned count = 0;
    for (Bytes at = 0; at < all.size(); at += segment, ++count) {
      const Bytes end = std::min(at + segment, all.size());
      sent.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at), all.begin() + static_cast<std::ptrdiff_t>(end));
    }
    return count;
  }
  bool receive(services::Inbox& inbox) override {
    inbox.datagrams.clear();
    if (arriving.empty() && flood) arriving.push_back(flood());
    if (arriving.empty()) return false;
    std::memcpy(inbox.data(), arriving.front().data(), arriving.front().size());
    inbox.datagrams.push_back({inbox.data(), arriving.front().size(), false});
    arriving.pop_front();
    return true;
  }

  // Return the first transmissions in `sent` of datagrams that have a sequence.
  [[nodiscard]] std::vector<MadeDatagram> fresh(std::uint64_t from_sequence) const {
    std::vector<MadeDatagram> result;
    for (const MadeDatagram& datagram : sent) {
      const Header header = header_of(datagram);
      if (header.content == Content::nothing || header.sequence != from_sequence) continue;
      result.push_back(datagram);
      ++from_sequence;
    }
    return result;
  }

  std::deque<MadeDatagram> sent;
  std::deque<MadeDatagram> arriving;
  bool refuses = false;
  std::function<MadeDatagram()> flood;  // makes arrivals when no other datagram waits

 private:
  services::DatagramLimits limits_;
};

struct Arrived {
  conduit::Category category{};
  bool is_request = false;
  std::vector<std::int32_t> arguments;
  std::vector<std::byte> payload;
};

class Sink final : public conduit::Delivery {
 public:
  void arrived(const conduit::AmView& message) override {
    const auto* data = static_cast<const std::byte*>(message.payload);
    messages.push_back({message.category,
                        message.is_request,
                        {message.arguments.begin(), message.arguments.end()},
                        {data, data + message.size}});
  }
  void completed(conduit::OperationId operation) override { done.push_back(operation); }

  std::vector<Arrived> messages;
  std::vector<conduit::OperationId> done;
};

// Conduit, memory and sink of one of two ranks.
struct End {
  End(std::uint32_t rank, Bytes largest, const UdpSettings& settings)
      : service(largest),
        memory(256 * 1024),
        conduit(RealHost(WaitMode::yield), service, Rank{rank}, 2, memory, settings) {}

  unsigned poll(unsigned budget = 100) { return conduit.poll(sink, budget, conduit::PollFilter::everything); }

  MemoryDatagrams service;
  std::vector<std::byte> memory;
  Sink sink;
  UdpConduit conduit;
};

struct MemoryWorld {
  static constexpr std::uint64_t kFirst = ~std::uint64_t{0} - 5;  // sequences wrap around soon

  explicit MemoryWorld(Bytes largest = 1472) : a(0, largest, settings()), b(1, largest, settings()) {}
  static UdpSettings settings() {
    UdpSettings result;
    result.key = {3, 4};
    result.session = 9;
    result.first_sequence = kFirst;
    return result;
  }

  // Deliver all sent datagrams.
  static void carry(End& from, End& to) {
    for (; !from.service.sent.empty(); from.service.sent.pop_front()) {
      to.service.arriving.push_back(std::move(from.service.sent.front()));
    }
  }
  void settle(unsigned rounds = 50) {
    for (unsigned i = 0; i < rounds; ++i) {
      carry(a, b);
      carry(b, a);
      a.poll();
      b.poll();
      a.conduit.serve();
      b.conduit.serve();
    }
  }

  End a;
  End b;
};

// Send a message to `peer`. The caller may add a payload with a pattern.
[[nodiscard]] inline Status send_message(UdpConduit& conduit, std::uint32_t peer, conduit::Category category,
                                         std::int32_t argument, std::span<const std::byte> payload = {},
                                         bool is_reply = false) {
  conduit::AmBuffer buffer;
  const conduit::AmHeader header{Rank{peer}, category, is_reply, 1, 0};
  const Status status = conduit.prepare(header, payload.data(), payload.size(), payload.size(), buffer);
  if (status != Status::ok) return status;
  if (!payload.empty()) std::memcpy(buffer.data, payload.data(), payload.size());
  const Status sent =
      conduit.commit(buffer, {HandlerIndex{200}, payload.size(), nullptr, {&argument, 1}}, conduit::kNoOperation);
  if (sent != Status::ok) conduit.cancel(buffer);
  return sent;
}

}  // namespace gasmeter::networks::udp

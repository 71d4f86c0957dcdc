// Raw programs on the toy network's own packets.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/networks/ideal/ideal_network.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::ideal::raw {

// Context that a raw program runs in: its NIC and its host.
struct Context {
  IdealNic& nic;
  sim::ModelHost host;
  Rank rank;
  std::uint32_t ranks;

  // Send a measured packet; wait for a slot.
  void send(Rank to, std::span<const std::byte> bytes) {
    bench::mutants::message(bytes.data(), bytes.size(), [&](const void* data) {
      const std::span sent(static_cast<const std::byte*>(data), bytes.size());
      while (nic.try_send(to, sent) != Status::ok) host.idle(kNever);
    });
  }
  // Wait for the next packet.
  [[nodiscard]] PacketHandle receive() {
    for (;;) {
      if (auto packet = nic.take()) return packet;
      host.idle(kNever);
    }
  }
};

// Throws UsageError for a payload that no packet has.
inline void require_packet(const Settings& settings, Bytes bytes) {
  if (bytes != 0 && bytes <= kMaxPacketBytes) return;
  throw UsageError("kernel " + settings.kernel + " on raw@ideal: size " + std::to_string(settings.size) +
                   " B; a packet holds 1.." + std::to_string(kMaxPacketBytes));
}

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_loggp(Context context, const Settings& settings);

// Raw programs, one for each kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::ideal::raw

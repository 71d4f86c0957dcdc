#include "gasmeter/networks/sci/sisci.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/sci/dma_engine.hpp"
#include "gasmeter/networks/sci/sci_network.hpp"

namespace gasmeter::networks::sci {

using conduit::SharedPrice;

namespace {

constexpr Bytes kWord = 8;      // bytes that a load reads at a time
constexpr Bytes kDoorbell = 8;  // bytes that start the DMA engine

std::string text_of(Rank rank) {
  return "rank " + std::to_string(index(rank));
}

}  // namespace

Sisci::Sisci(SciNetwork& network, sim::ModelHost host, std::uint8_t place)
    : network_(network), card_(network.card(host.node())), host_(host), place_(place) {}

const SciParameters& Sisci::parameters() const {
  return network_.parameters();
}

Bytes Sisci::alignment() const {
  return network_.driver().alignment;
}

// ---- segments

void Sisci::create_segment(std::uint32_t id, Segment& segment) {
  if (!network_.driver().big_area && segment.piece() > parameters().segment_limit) {
    throw UsageError("sci: " + text_of(rank()) + " exports a segment of " + std::to_string(segment.piece()) +
                     " bytes; the driver finds " + std::to_string(parameters().segment_limit) +
                     " bytes that are contiguous (driver.segment_limit), more with big_area=on");
  }
  if (!exported_.emplace(id, Exported{&segment, false}).second) {
    throw UsageError("sci: " + text_of(rank()) + " creates segment " + std::to_string(id) + " twice");
  }
}

void Sisci::set_available(std::uint32_t id) {
  const auto entry = exported_.find(id);
  if (entry == exported_.end()) {
    throw UsageError("sci: " + text_of(rank()) + " makes segment " + std::to_string(id) +
                     " available, which it has not created");
  }
  entry->second.available = true;
}

RemoteSegment Sisci::connect(Rank owner, std::uint32_t id) {
  if (index(owner) >= network_.engine().ranks()) {
    throw UsageError("sci: " + text_of(owner) + " does not exist; ranks are 0.." +
                     std::to_string(network_.engine().ranks() - 1));
  }
  const auto& others = network_.sisci(owner).exported_;
  const auto entry = others.find(id);
  if (entry == others.end() || !entry->second.available) {
    throw UsageError("sci: " + text_of(rank()) + " connects to segment " + std::to_string(id) + " of " +
                     text_of(owner) + ", which is not available");
  }
  return {owner, entry->second.segment};
}

void Sisci::map(std::uint64_t segments) {
  host_.spend(parameters().map * static_cast<std::int64_t>(segments));
}

void Sisci::require_inside(const RemoteSegment& remote, Bytes at, Bytes bytes, const char* operation) const {
  const Bytes size = remote.segment->size();
  if (at <= size && bytes <= size - at) return;
  throw UsageError("sci: " + text_of(rank()) + "'s " + operation + " of " + std::to_string(bytes) + " bytes at " +
                   std::to_string(at) + " leaves " + text_of(remote.owner) + "'s segment of " + std::to_string(size) +
                   " bytes");
}

// ---- programmed I/O

SciPacket& Sisci::packet_to(const RemoteSegment& remote, Bytes at, Bytes bytes) {
  SciPacket& packet = card_.take();
  packet.segment = remote.segment;
  packet.at = at;
  packet.owner = remote.owner;
  packet.op = PacketOp::write;
  packet.releases = false;
  packet.slot = place_;
  packet.size = static_cast<std::uint8_t>(bytes);
  packet.to = index(network_.engine().node_of(remote.owner));
  return packet;
}

// A whole line leaves the core in one burst, and so does a part of a line. The bridge makes one packet of a whole line,
// or of the two lines of a block if the second follows the first.
void Sisci::store(const RemoteSegment& to, Bytes at, std::span<const std::byte> bytes, sim::Step step) {
  require_inside(to, at, bytes.size(), "store");
  ++counters_.stores;
  while (!bytes.empty()) {
    const Bytes line = std::min(kLine - at % kLine, bytes.size());
    const Bytes block = parameters().gather;
    const Bytes burst = at % block == 0 && bytes.size() >= block ? block : line;
    for (Bytes stored = 0; stored < burst; stored += kLine) {
      host_.charge_shared(SharedPrice::pio_store, std::min(kLine, burst - stored), step);
    }
    host_.synchronise();
    hand_over(to, at, bytes.first(burst));
    at += burst;
    bytes = bytes.subspan(burst);
  }
}

// Less than a line goes in packets of the card's smallest size.
void Sisci::hand_over(const RemoteSegment& to, Bytes at, std::span<const std::byte> burst) {
  bool taken = true;
  const Bytes largest = burst.size() < kLine ? kLeastPacket : burst.size();
  while (!burst.empty()) {
    const Bytes size = std::min(largest - at % largest, burst.size());
    SciPacket& packet = packet_to(to, at, size);
    std::memcpy(packet.payload.data(), burst.data(), size);
    packet.releases = size == burst.size();
    taken = card_.transact(packet, host_.now());
    at += size;
    burst = burst.subspan(size);
  }
  if (!taken) host_.stall();
}

void Sisci::load(const RemoteSegment& from, Bytes at, std::span<std::byte> into) {
  require_inside(from, at, into.size(), "load");
  const bool is_near = network_.engine().node_of(from.owner) == host_.node();
  while (!into.empty()) {
    const Bytes size = std::min(kWord - at % kWord, into.size());
    ++counters_.loads;
    host_.synchronise();
    if (is_near) {  // the target's bridge is not involved
      host_.charge_shared(SharedPrice::line_transfer);
      host_.synchronise();
      from.segment->load(at, into.first(size));
    } else {
      SciPacket& packet = packet_to(from, at, size);
      packet.op = PacketOp::read;
      packet.into = into.data();
      (void)card_.transact(packet, host_.now());
      host_.stall();
    }
    at += size;
    into = into.subspan(size);
  }
}

void Sisci::check() {
  ++counters_.checks;
  host_.synchronise();
  if (!card_.is_quiet(place_)) {
    card_.await(place_);
    host_.stall();
  }
  host_.charge_shared(SharedPrice::device_read, 0, sim::Step::check);
}

// ---- DMA

void Sisci::post_dma(const RemoteSegment& to, Bytes at, const std::byte* from, Bytes bytes, bool& done) {
  require_inside(to, at, bytes, "DMA transfer");
  const auto source = reinterpret_cast<std::uintptr_t>(from);
  if (bytes == 0 || at % alignment() != 0 || bytes % alignment() != 0 || source % alignment() != 0) {
    throw UsageError("sci: " + text_of(rank()) + "'s DMA transfer of " + std::to_string(bytes) + " bytes to offset " +
                     std::to_string(at) + " from an address of remainder " + std::to_string(source % alignment()) +
                     "; size and addresses are multiples of " + std::to_string(alignment()));
  }
  ++counters_.transfers;
  done = false;
  host_.charge_shared(SharedPrice::pio_store, kDoorbell);
  host_.synchronise();
  card_.dma().post({rank(), to.owner, from, to.segment, at, bytes, &done}, host_.now());
}

void Sisci::look_at_dma() {
  host_.charge_shared(SharedPrice::device_read, 0, sim::Step::check);
}

}  // namespace gasmeter::networks::sci

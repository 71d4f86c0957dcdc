// SISCI: the calls of one rank's software to its node's card.
//
// The rank's own body calls it, or the main stack before the rank runs. Stores, loads and checks stop the core while
// the card makes them wait. Meanwhile the core neither polls nor handles anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "gasmeter/networks/sci/packet.hpp"
#include "gasmeter/networks/sci/parameters.hpp"
#include "gasmeter/networks/sci/segment.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "gasmeter/sim/trace/step.hpp"

namespace gasmeter::networks::sci {

class SciCard;
class SciNetwork;

// A segment of another rank that this rank has connected to.
struct RemoteSegment {
  Rank owner{};
  Segment* segment = nullptr;
};

struct SisciCounters {
  std::uint64_t stores = 0;  // calls of software, not packets
  std::uint64_t loads = 0;
  std::uint64_t checks = 0;
  std::uint64_t transfers = 0;  // by DMA
};

class Sisci {
 public:
  // `place`: number of the rank among the ranks of its node.
  Sisci(SciNetwork& network, sim::ModelHost host, std::uint8_t place);
  Sisci(const Sisci&) = delete;
  Sisci& operator=(const Sisci&) = delete;

  [[nodiscard]] Rank rank() const { return host_.rank(); }
  [[nodiscard]] const SciParameters& parameters() const;
  [[nodiscard]] Bytes alignment() const;
  [[nodiscard]] const SisciCounters& counters() const { return counters_; }

  // ---- the rank's own memory. A segment lies in contiguous memory. Throws UsageError for a segment above the driver's
  // limit, and for a number that is taken.
  void create_segment(std::uint32_t id, Segment& segment);
  void set_available(std::uint32_t id);

  // ---- memory of other ranks. Throws UsageError for a segment that does not exist or is not available.
  [[nodiscard]] RemoteSegment connect(Rank owner, std::uint32_t id);
  // Map `segments` segments, at the driver's price for each.
  void map(std::uint64_t segments);

  // Store bytes. All have left the core when the call returns, as lines that the bridge makes packets of. A trace names
  // the store `step`.
  void store(const RemoteSegment& to, Bytes at, std::span<const std::byte> bytes, sim::Step step = sim::Step::doorbell);
  // Load bytes in words of 8 B. Each word is a round trip.
  void load(const RemoteSegment& from, Bytes at, std::span<std::byte> into);
  // End a sequence: wait for the echoes of all stores, then read the card's error register.
  void check();

  // Post a DMA transfer. The source may change when `done` is set. Throws UsageError for addresses and sizes that are
  // not multiples of the driver's alignment.
  void post_dma(const RemoteSegment& to, Bytes at, const std::byte* from, Bytes bytes, bool& done);
  // Pay for a look at the end of a transfer: a read of the card's register.
  void look_at_dma();

 private:
  struct Exported {
    Segment* segment = nullptr;
    bool available = false;
  };

  void require_inside(const RemoteSegment& remote, Bytes at, Bytes bytes, const char* operation) const;
  [[nodiscard]] SciPacket& packet_to(const RemoteSegment& remote, Bytes at, Bytes bytes);
  void hand_over(const RemoteSegment& to, Bytes at, std::span<const std::byte> burst);

  SciNetwork& network_;
  SciCard& card_;
  sim::ModelHost host_;
  std::uint8_t place_;
  std::unordered_map<std::uint32_t, Exported> exported_;
  SisciCounters counters_;
};

}  // namespace gasmeter::networks::sci

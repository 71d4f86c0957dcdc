// SISCI: what one rank's software does with its node's card.
//
// Called by the rank's own body, or on the main stack before it runs. Stores, loads and checks stop the core where the
// card makes them wait: meanwhile it neither polls nor handles anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "gasmeter/networks/sci/packet.hpp"
#include "gasmeter/networks/sci/parameters.hpp"
#include "gasmeter/networks/sci/segment.hpp"
#include "gasmeter/sim/model_host.hpp"
#include "gasmeter/sim/step.hpp"

namespace gasmeter::networks::sci {

class SciCard;
class SciNetwork;

// What a rank has connected to.
struct RemoteSegment {
  Rank owner{};
  Segment* segment = nullptr;
};

struct SisciCounters {
  std::uint64_t stores = 0;  // of software, not packets
  std::uint64_t loads = 0;
  std::uint64_t checks = 0;
  std::uint64_t transfers = 0;  // by DMA
};

class Sisci {
 public:
  // `place`: among the ranks of its node.
  Sisci(SciNetwork& network, sim::ModelHost host, std::uint8_t place);
  Sisci(const Sisci&) = delete;
  Sisci& operator=(const Sisci&) = delete;

  [[nodiscard]] Rank rank() const { return host_.rank(); }
  [[nodiscard]] const SciParameters& parameters() const;
  [[nodiscard]] Bytes alignment() const;
  [[nodiscard]] const SisciCounters& counters() const { return counters_; }

  // ---- memory of its own. A segment lies in contiguous memory: throws UsageError for a larger one than the driver
  // finds, and for a number that is taken.
  void create_segment(std::uint32_t id, Segment& segment);
  void set_available(std::uint32_t id);

  // ---- others'. Throws UsageError for what is not there or not available.
  [[nodiscard]] RemoteSegment connect(Rank owner, std::uint32_t id);
  // So many segments, at the driver's price for each.
  void map(std::uint64_t segments);

  // All of it has left the core when the call returns, as lines that the bridge makes packets of. A trace calls it
  // `step`.
  void store(const RemoteSegment& to, Bytes at, std::span<const std::byte> bytes, sim::Step step = sim::Step::doorbell);
  // A word of 8 bytes after the other, each a round trip.
  void load(const RemoteSegment& from, Bytes at, std::span<std::byte> into);
  // Ends a sequence: waits for the echoes of all that has been stored, then reads the card's register of errors.
  void check();

  // The source may change when `done` is set. Throws UsageError for addresses and sizes that are no multiples of the
  // driver's alignment.
  void post_dma(const RemoteSegment& to, Bytes at, const std::byte* from, Bytes bytes, bool& done);
  // What finding out costs: a read of the card's register.
  void look_at_dma();

 private:
  struct Exported {
    Segment* segment = nullptr;
    bool available = false;
  };

  void require_inside(const RemoteSegment& remote, Bytes at, Bytes bytes, const char* what) const;
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

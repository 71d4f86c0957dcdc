// The long transfers of a network's RMA units: the state of cards and links that they keep changing
// (sim/engine/steady.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/extoll/packet.hpp"
#include "gasmeter/networks/extoll/rma.hpp"
#include "gasmeter/sim/engine/posted.hpp"
#include "gasmeter/sim/engine/steady.hpp"

namespace gasmeter::networks::extoll {

class ExtollNetwork;
class ExtollNic;

class RmaStreams final : public sim::SteadyTraffic {
 public:
  static constexpr unsigned kLong = 40;  // packets that a long transfer has left, at least

  explicit RmaStreams(ExtollNetwork& network);

  // --- for readers, on their nodes
  // Note that a reader has a long transfer from now on, or no longer.
  void add(RmaReader& reader);
  void remove(RmaReader& reader);

  // --- for ports, while transfers pass
  // Tell whether the port need not wake its rank for this packet's bytes.
  [[nodiscard]] bool is_unheard(const RmaPacket& packet) const;

  // --- for readers and completers, while their state is walked through
  void walk(RmaPacket& packet, bool is_read, sim::StateWalk& walk);

  // --- SteadyTraffic
  bool begin() override;
  void end() override;
  SimTime worthwhile() const override;
  bool is_part(const sim::Posted& entry) const override;
  bool is_beat(const sim::Posted& entry) const override;
  void walk(sim::StateWalk& walk) override;
  void walk(const sim::Posted& entry, sim::StateWalk& walk) override;
  void moved() override;

 private:
  struct Stream {
    RmaReader* reader = nullptr;
    RmaTransfer transfer;
    std::uint32_t node = 0;  // of the reader
    std::uint32_t to = 0;    // of the target
    Bytes limit = 0;         // bytes that may pass at once; packets beyond are handled one by one
    // The first byte in flight, before the state moves and after it has moved.
    Bytes moved_from = std::numeric_limits<Bytes>::max();
    Bytes oldest = std::numeric_limits<Bytes>::max();
  };

  void walk(sim::Packet& packet, sim::StateWalk& walk);
  [[nodiscard]] Stream* stream_of(const RmaPacket& packet) const;
  [[nodiscard]] bool add_stream(RmaReader& reader);
  [[nodiscard]] bool disturb_one_another() const;

  ExtollNetwork& network_;
  std::vector<std::vector<RmaReader*>> long_;  // by partition
  bool is_open_ = false;
  std::vector<Stream> streams_;
  std::vector<std::uint32_t> links_;
  std::vector<std::uint32_t> sources_;             // nodes that send
  std::vector<std::uint32_t> targets_;             // nodes that receive
  std::vector<const sim::Action*> units_;          // actions whose events belong to the transfers
  std::vector<std::int32_t> stream_of_requester_;  // by node; -1: none
  std::vector<std::int32_t> stream_of_responder_;
};

}  // namespace gasmeter::networks::extoll

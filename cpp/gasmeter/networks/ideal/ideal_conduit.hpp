// The toy network's conduit: try hooks and, if asked for, puts; core's reference implementations do the rest.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/networks/ideal/ideal_network.hpp"
#include "gasmeter/services/modelled_pins.hpp"
#include "gasmeter/services/node_ams.hpp"

namespace gasmeter::networks::ideal {

struct IdealOptions {
  bool native_puts = false;  // the NIC does them, not messages
  Bytes medium = 4096;       // largest Medium
  // What is sent out of memory outside the segment is registered first, and may stay so up to these limits; none: the
  // network reaches all memory.
  std::optional<conduit::PinLimits> pins = std::nullopt;
  SimTime search{};     // finding what a message belongs to
  SimTime translate{};  // making an address of where a Long belongs
};

// One rank's. Every message is one packet: header, arguments, payload; a Long's payload is copied to its destination
// when it is polled. Lives no longer than the network; messages prepared and not committed are dropped with it.
class IdealConduit final : public conduit::Conduit, public conduit::ReservesMemory {
 public:
  // `near`: boxes of the nodes, which carry messages for ranks of the own node; null: the NIC does, too.
  IdealConduit(IdealNetwork& network, sim::ModelHost host, Rank rank, const IdealOptions& options = {},
               services::AmBoxes* near = nullptr);

  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return capabilities_; }
  void attach(std::span<std::byte> segment) override;
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override;
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message, conduit::OperationId local) override;
  void cancel(const conduit::AmBuffer& buffer) override;
  Status put(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root,
             conduit::OperationId local) override;
  Status pin(std::span<std::byte> memory, conduit::Pin& pinned) override;
  void unpin(conduit::Pin pinned) override;
  void forget(std::span<const std::byte> memory) override;
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override;
  [[nodiscard]] Bytes reserved_bytes() const override;

 private:
  [[nodiscard]] bool is_near(Rank rank) const { return near_ && near_->reaches(rank); }
  [[nodiscard]] static Packet& prepared(const conduit::AmBuffer& buffer);
  [[nodiscard]] PacketHandle packet_of(const conduit::AmBuffer& buffer) const;
  [[nodiscard]] PacketHandle next_packet(conduit::PollFilter filter);
  unsigned hand_over_done(conduit::Delivery& sink, unsigned budget);
  void hand_over(conduit::Delivery& sink, Packet& packet);
  [[nodiscard]] Status reach(const void* payload, Bytes bytes);

  IdealNetwork& network_;
  sim::ModelHost host_;
  IdealNic& nic_;
  IdealOptions options_;
  conduit::Capabilities capabilities_;
  conduit::LocalCompletions local_done_;
  std::optional<services::ModelledPins> pins_;
  std::optional<services::NodeAms> near_;
  PacketList deferred_;  // requests that arrived while only replies were wanted
};

}  // namespace gasmeter::networks::ideal

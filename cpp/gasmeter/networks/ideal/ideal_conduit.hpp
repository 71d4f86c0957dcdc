// Conduit of the toy network: try hooks and, by option, puts. Core's reference implementations do everything else.
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
  bool native_puts = false;  // puts by the NIC instead of messages
  Bytes medium = 4096;       // bytes of the largest Medium
  // Limits of registered memory for payload outside the segment, which is registered before it is sent. Empty: the
  // network reaches all memory.
  std::optional<conduit::PinLimits> pins = std::nullopt;
  SimTime search{};     // time to find the state that a message belongs to
  SimTime translate{};  // time to translate a Long's destination into an address
};

// Conduit of one rank. Each message is one packet: header, arguments, payload. A poll copies a Long's payload to its
// destination. The network outlives it. Messages that are prepared and not committed end with it.
class IdealConduit final : public conduit::Conduit, public conduit::ReservesMemory {
 public:
  // `near` are the nodes' boxes for messages between ranks of a node; null: the NIC carries these messages, too.
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
  services::NodeAms near_;
  PacketList deferred_;  // requests that arrived while only replies were wanted
};

}  // namespace gasmeter::networks::ideal

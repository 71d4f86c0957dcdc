// The conduit's first stage: puts and gets by Portals alone. Active messages are still those of the mpi conduit
// (AMMPI), over MPI on the same interface. A poll polls both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/conduit/holdings.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/networks/classic_messages.hpp"
#include "gasmeter/networks/portals/portals_mpi.hpp"
#include "gasmeter/networks/portals/transfers.hpp"

namespace gasmeter::networks::portals {

// Conduit of one rank. The network outlives it.
class HybridConduit final : public conduit::Conduit,
                            public conduit::CountsItself,
                            public conduit::ReservesMemory,
                            public conduit::TellsHoldings {
 public:
  HybridConduit(Portals& portals, sim::ModelHost host, std::uint32_t ranks, const PortalsOptions& options,
                const PortalsMpiSizes& messages, SegmentBases& bases);

  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return capabilities_; }
  void attach(std::span<std::byte> segment) override;
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override {
    return messages_->prepare(header, client, least, most, out);
  }
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message,
                conduit::OperationId local) override {
    return messages_->commit(buffer, message, local);
  }
  void cancel(const conduit::AmBuffer& buffer) override { messages_->cancel(buffer); }
  Status put(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root,
             conduit::OperationId local) override {
    return transfers_.put(peer, to, from, bytes, root, local);
  }
  Status get(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root) override {
    return transfers_.get(peer, to, from, bytes, root);
  }
  void forget(std::span<const std::byte> memory) override;
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override;
  void add_to(conduit::Counts& counts) const override;
  [[nodiscard]] Bytes reserved_bytes() const override;
  [[nodiscard]] std::vector<conduit::Holding> holdings() const override { return portals_.holdings(); }

  // The conduit of the messages, which may still owe messages to its peers.
  [[nodiscard]] TwoSidedConduit& messages() { return *messages_; }

 private:
  Portals& portals_;
  sim::ModelHost host_;
  PortalsMpi service_;
  std::unique_ptr<TwoSidedConduit> messages_;
  conduit::LocalCompletions done_;
  Transfers transfers_;
  conduit::Capabilities capabilities_;
};

}  // namespace gasmeter::networks::portals

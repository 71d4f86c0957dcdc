// GASNet's lapi-conduit. Active messages are Amsends, puts and gets are LAPI's own, in packet mode or in RDMA mode.
//
// A header handler runs under LAPI's lock and may not communicate, and a completion handler is expensive. The header
// handler therefore only stores the message. A poll hands the message over when it has arrived completely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/networks/lapi/am_wire.hpp"
#include "gasmeter/networks/lapi/lapi_options.hpp"
#include "gasmeter/networks/lapi/lapi_task.hpp"
#include "gasmeter/networks/lapi/transfers.hpp"
#include "gasmeter/services/node_ams.hpp"

namespace gasmeter::networks::lapi {

// Conduit of one rank. The network outlives it. No other object uses its task.
class LapiConduit final : public conduit::Conduit, public conduit::ReservesMemory, private HeaderHandler {
 public:
  // `interrupts`: arrivals are handled while the rank computes. `near`: boxes of the nodes, which carry messages
  // between node mates. Null: the adapter carries them.
  LapiConduit(LapiTask& task, sim::ModelHost host, unsigned ranks, const LapiOptions& options, bool interrupts,
              services::AmBoxes* near = nullptr);

  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return capabilities_; }
  void attach(std::span<std::byte> segment) override { transfers_.attach(segment); }
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override;
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message, conduit::OperationId local) override;
  void cancel(const conduit::AmBuffer& buffer) override;
  Status put(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root,
             conduit::OperationId local) override;
  Status get(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root) override;
  Status pin(std::span<std::byte> memory, conduit::Pin& pinned) override { return transfers_.pin(memory, pinned); }
  void unpin(conduit::Pin pinned) override { transfers_.unpin(pinned); }
  void forget(std::span<const std::byte> memory) override { transfers_.forget(memory); }
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override;
  [[nodiscard]] Bytes reserved_bytes() const override;

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  // A message that is being built: its user header, and a buffer for a payload that the caller does not provide.
  struct Prepared {
    std::uint32_t large = kNone;
    unsigned packets = 0;
  };
  // A message that is arriving, or waits for its handler.
  struct Arrival {
    Rank from{};
    Bytes header = 0;
    Bytes bytes = 0;                       // of its data
    std::unique_ptr<std::byte[]> payload;  // of a Medium whose payload is not in the header
    Bytes room = 0;                        // size of `payload`
    alignas(std::max_align_t) std::byte user_header[kMostUserHeader];
  };

  void give_back(const conduit::AmBuffer& buffer);

  // ---- receiving
  Landing begin(Rank from, std::span<const std::byte> user_header, Bytes bytes) override;
  [[nodiscard]] bool take(std::uint32_t which, conduit::Delivery& sink, conduit::PollFilter filter);
  GASMETER_INLINE void deliver(conduit::Delivery& sink, std::uint32_t which);
  void hand_over(conduit::Delivery& sink, Arrival& arrival);

  LapiTask& task_;
  sim::ModelHost host_;
  unsigned ranks_;
  conduit::Capabilities capabilities_;
  conduit::LocalCompletions done_;
  services::NodeAms near_;
  unsigned most_packets_;  // of a message
  BufferPool headers_;
  BufferPool larges_;
  std::vector<Prepared> prepared_;  // by header
  Transfers transfers_;
  std::deque<Arrival> arrivals_;
  std::vector<std::uint32_t> free_;
  std::deque<std::uint32_t> deferred_;  // requests
};

}  // namespace gasmeter::networks::lapi

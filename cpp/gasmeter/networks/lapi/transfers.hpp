// Puts and gets of one rank by LAPI, and their local memory.
//
// In packet mode software at both sides copies, from and into any memory. In RDMA mode the adapters reach registered
// memory alone. Other memory is copied through a registered buffer up to the threshold. Above it, the memory is
// registered, in a cache without a limit, until forget().
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/networks/lapi/handles.hpp"
#include "gasmeter/networks/lapi/lapi_options.hpp"
#include "gasmeter/networks/lapi/lapi_task.hpp"
#include "gasmeter/services/card_memory.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::lapi {

class Transfers {
 public:
  // `done`: receives local completions of puts whose source was copied.
  Transfers(LapiTask& task, sim::ModelHost host, const LapiOptions& options, conduit::LocalCompletions& done);

  void add_to(conduit::Capabilities& capabilities) const;
  void attach(std::span<std::byte> segment);
  [[nodiscard]] Status put(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root,
                           conduit::OperationId local);
  [[nodiscard]] Status get(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root);
  // The counter of a transfer has risen. Return how many completions were reported to the sink.
  unsigned complete(std::uint32_t which, conduit::Delivery& sink);

  [[nodiscard]] Status pin(std::span<std::byte> memory, conduit::Pin& pinned);
  void unpin(conduit::Pin pinned);
  void forget(std::span<const std::byte> memory) { memory_.forget(memory); }

  [[nodiscard]] Bytes reserved_bytes() const { return bounces_.memory().size(); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  static constexpr unsigned kBounces = 32;

  using Memory = services::CardMemory<LapiTask, HandlePinner>;
  struct Operation {
    conduit::OperationId root = conduit::kNoOperation;
    conduit::OperationId local = conduit::kNoOperation;
    std::uint32_t bounce = kNone;
    void* copy_to = nullptr;  // of a get by a buffer
    Bytes bytes = 0;
    Memory::Reached reached;
  };
  // How a transfer in RDMA mode reaches its local memory.
  enum class Way : std::uint8_t { registered, bounced, pinned };

  [[nodiscard]] bool by_rdma(Bytes bytes) const { return options_.rdma && bytes >= options_.rdma_from; }
  [[nodiscard]] Way way_of(const void* memory, Bytes bytes) const;
  [[nodiscard]] Status begin(Way way, const void* memory, Bytes bytes, std::uint32_t& which);
  [[nodiscard]] std::uint32_t take();
  void end(std::uint32_t which);

  LapiTask& task_;
  sim::ModelHost host_;
  LapiOptions options_;
  conduit::LocalCompletions& done_;
  conduit::PinLimits limits_;
  Memory memory_;
  services::RegisteredMemory held_;  // memory of the pins
  BufferPool bounces_;
  std::deque<Operation> operations_;
  std::vector<std::uint32_t> free_;
};

}  // namespace gasmeter::networks::lapi

// Puts, gets and atomics of one rank, by a window or by a block transfer engine. The peer's software has no part in
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/conduit/local_completions.hpp"
#include "gasmeter/networks/aries/aries_options.hpp"
#include "gasmeter/networks/aries/descriptors.hpp"
#include "gasmeter/networks/aries/domain.hpp"
#include "gasmeter/networks/aries/job_memory.hpp"
#include "gasmeter/networks/aries/local_memory.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::aries {

// The released conduit's largest out-of-segment RDMA chunk. Core cuts longer transfers, whether they are in the segment
// or not.
inline constexpr Bytes kMostTransfer = Bytes{8} << 20U;

class Transfers {
 public:
  // `done`: receives operations that are over.
  Transfers(Domain& domain, sim::ModelHost host, const AriesOptions& options, JobMemory& job, Descriptors& descriptors,
            conduit::LocalCompletions& done)
      : domain_(domain),
        host_(host),
        job_(job),
        descriptors_(descriptors),
        done_(done),
        memory_(domain, host, options),
        fma_cutover_(options.fma_cutover) {}

  void attach(std::span<std::byte> segment);
  [[nodiscard]] Status put(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root,
                           conduit::OperationId local);
  [[nodiscard]] Status get(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root);
  [[nodiscard]] Status atomic(Rank peer, const conduit::RemoteAtomic& atomic, conduit::OperationId root);
  // Largest put that has read its source at return, if its caller asks for that.
  [[nodiscard]] Bytes most_copied() const;
  [[nodiscard]] LocalMemory& memory() { return memory_; }

  // The local event of a descriptor's post has come.
  void left(std::uint32_t which);
  // The global event of a transfer's post has come.
  void ended(std::uint32_t which);

  // Put with a descriptor that was taken; also for a Long's payload. The source has been read at return, unless `local`
  // is given. Then the source is reported as free, at once or by left().
  void post_put(std::uint32_t which, Rank peer, void* to, const void* from, MemoryHandle from_memory, Bytes bytes,
                conduit::OperationId local);

  void add_to(conduit::Counts& counts) const;

 private:
  [[nodiscard]] bool goes_by_window(Bytes bytes) const { return bytes <= fma_cutover_; }
  void post_get(std::uint32_t which, Rank peer, void* to, MemoryHandle to_memory, const void* from, Bytes bytes);
  void get_end(std::uint32_t rest, Rank peer, std::byte* to, const std::byte* from, Bytes bytes);
  [[nodiscard]] Status refuse() {
    ++handed_.stalls;
    return Status::no_resource;
  }

  Domain& domain_;
  sim::ModelHost host_;
  JobMemory& job_;
  Descriptors& descriptors_;
  conduit::LocalCompletions& done_;
  LocalMemory memory_;
  Bytes fma_cutover_;
  std::uint64_t bounced_ = 0;
  conduit::ConduitCounters handed_;
};

}  // namespace gasmeter::networks::aries

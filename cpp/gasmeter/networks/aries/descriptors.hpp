// The post descriptors of one rank, and the buffers that what is posted is copied into: 128 B in each descriptor, and
// larger ones that all share.
//
// A descriptor is in use from before it is posted until its global event has been taken. Each has a place for both of
// its events in the queue, which hence never overflows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/networks/aries/am_wire.hpp"
#include "gasmeter/networks/aries/aries_options.hpp"
#include "gasmeter/networks/aries/domain.hpp"
#include "gasmeter/networks/aries/local_memory.hpp"

namespace gasmeter::networks::aries {

// protocol_constants: immediate bounce in a descriptor; bounce pool, of which the buffers are larger where messages
// are; bounce to registration cutover.
inline constexpr Bytes kImmediate = 128;
inline constexpr Bytes kBounce = 4096;

class Descriptors {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  // What one is in use for.
  struct Use {
    conduit::OperationId root = conduit::kNoOperation;
    conduit::OperationId local = conduit::kNoOperation;
    std::uint32_t bounce = kNone;
    LocalMemory::Reached reached{};
    // Of a transfer.
    std::uint32_t rest = kNone;  // it fetches an end of what that one gets
    std::uint32_t parts = 1;     // posts under way: its own, and of ends
    void* copy_to = nullptr;     // where what has come to a buffer goes
    const std::byte* copy_from = nullptr;
    Bytes bytes = 0;
    // Of a message.
    std::uint32_t large = kNone;  // where its payload lies
    bool goes_behind = false;     // its payload, which is on its way
    bool is_apart = false;        // prepared so
    Rank peer{};
    std::uint16_t reply_slot = 0;
    AmWord word{};
    Bytes message = 0;  // bytes of it
  };

  // `bounce`: bytes of a shared buffer.
  Descriptors(Domain& domain, const AriesOptions& options, Bytes bounce);

  [[nodiscard]] bool has(unsigned descriptors, bool bounce) const {
    return immediates_.free() >= descriptors && !(bounce && bounces_.free() == 0);
  }
  // has() them.
  [[nodiscard]] std::uint32_t take(bool bounce);
  void give(std::uint32_t which);

  [[nodiscard]] Use& use(std::uint32_t which) { return uses_[which]; }
  // Of the one that was taken with it; or in the descriptor.
  [[nodiscard]] std::byte* buffer(std::uint32_t which) const;
  [[nodiscard]] MemoryHandle buffer_memory(std::uint32_t which) const;
  [[nodiscard]] CqHandle events() const { return events_; }

  [[nodiscard]] std::size_t free() const { return immediates_.free(); }
  [[nodiscard]] std::size_t free_bounces() const { return bounces_.free(); }
  [[nodiscard]] bool all_free() const { return immediates_.free() == most_; }
  [[nodiscard]] Bytes reserved_bytes() const { return immediates_.memory().size() + bounces_.memory().size(); }

 private:
  unsigned most_;
  BufferPool immediates_;
  BufferPool bounces_;
  CqHandle events_;
  MemoryHandle immediates_memory_;
  MemoryHandle bounces_memory_;
  std::deque<Use> uses_;  // of those that were ever taken
};

}  // namespace gasmeter::networks::aries

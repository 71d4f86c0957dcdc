// Post descriptors of one rank, and the buffers for copies of posted data: 128 B in each descriptor, and larger buffers
// that all descriptors share.
//
// A descriptor is in use from before it is posted until its global event has been taken. Each has a place for both of
// its events in the queue, so that the queue never overflows.
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

// Sources: the released conduit's "immediate bounce in a descriptor", "bounce to registration cutover" and "bounce
// pool". The pool's buffers are larger if messages are.
inline constexpr Bytes kImmediate = 128;
inline constexpr Bytes kBounce = 4096;

class Descriptors {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  // Purpose that a descriptor is in use for.
  struct Use {
    conduit::OperationId root = conduit::kNoOperation;
    conduit::OperationId local = conduit::kNoOperation;
    std::uint32_t bounce = kNone;
    LocalMemory::Reached reached{};
    // Fields of a transfer.
    std::uint32_t rest = kNone;  // the get that this descriptor fetches an end of
    std::uint32_t parts = 1;     // posts in flight: the descriptor's own, and those of its ends
    void* copy_to = nullptr;     // destination of data that arrive in a buffer
    const std::byte* copy_from = nullptr;
    Bytes bytes = 0;
    // Fields of a message.
    std::uint32_t large = kNone;  // large buffer that holds its payload
    bool goes_behind = false;     // its payload is still in flight, and the message follows it
    bool is_apart = false;        // the payload has a put of its own
    Rank peer{};
    std::uint16_t reply_slot = 0;
    AmWord word{};
    Bytes message = 0;  // bytes of the message
  };

  // `bounce`: bytes of a shared buffer.
  Descriptors(Domain& domain, const AriesOptions& options, Bytes bounce);

  [[nodiscard]] bool has(unsigned descriptors, bool bounce) const {
    return immediates_.free() >= descriptors && !(bounce && bounces_.free() == 0);
  }
  // Take a descriptor, and a shared buffer if `bounce`. has() must have been true.
  [[nodiscard]] std::uint32_t take(bool bounce);
  void give(std::uint32_t which);

  [[nodiscard]] Use& use(std::uint32_t which) { return uses_[which]; }
  // The shared buffer that was taken with the descriptor, or else the buffer in it.
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
  std::deque<Use> uses_;  // of the descriptors that were ever taken
};

}  // namespace gasmeter::networks::aries

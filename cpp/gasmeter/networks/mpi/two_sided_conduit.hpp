// Parts that both protocols of the mpi conduit share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/base/stamped_call.hpp"
#include "gasmeter/networks/classic_messages.hpp"
#include "gasmeter/services/two_sided_service.hpp"

namespace gasmeter::networks::mpi {

// Buffers of messages start at a cache line of their own.
inline constexpr std::size_t kAlignment = 64;
struct AlignedDelete {
  Bytes bytes = 0;
  void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t{kAlignment}); }
};
using AlignedMemory = std::unique_ptr<std::byte, AlignedDelete>;

[[nodiscard]] inline AlignedMemory aligned_memory(Bytes bytes) {
  auto* const memory = static_cast<std::byte*>(::operator new(std::max<Bytes>(bytes, 1), std::align_val_t{kAlignment}));
  return AlignedMemory(memory, AlignedDelete{bytes});
}

// Segment of the receiving rank. Every address in a peer's message is checked against it before use.
class OwnSegment {
 public:
  void attach(std::span<std::byte> segment) { segment_ = segment; }
  // Return `at` as an address. Throws UsageError if a byte lies outside the segment. Zero bytes are allowed anywhere.
  [[nodiscard]] GASMETER_INLINE std::byte* checked(Rank source, std::uint64_t at, Bytes bytes) const {
    const auto start = reinterpret_cast<std::uint64_t>(segment_.data());
    if (GASMETER_UNLIKELY(!lies_within(start, segment_.size(), at, bytes)) && bytes != 0) refuse(source, at, bytes);
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(at));
  }

 private:
  [[noreturn]] GASMETER_NOINLINE void refuse(Rank source, std::uint64_t at, Bytes bytes) const {
    const std::uint64_t offset = at - reinterpret_cast<std::uint64_t>(segment_.data());
    throw UsageError("mpi: message from rank " + std::to_string(index(source)) + " names " + std::to_string(bytes) +
                     " bytes at offset " + std::to_string(static_cast<std::int64_t>(offset)) +
                     " of this rank's segment, which has " + std::to_string(segment_.size()) + " bytes");
  }

  std::span<std::byte> segment_;
};

// Stamp the time around a call of a real MPI, if the rank takes time stamps.
template <class H, class Call>
GASMETER_INLINE services::SendState handing_over(Call call) {
  if constexpr (H::kStamped) {
    return stamped_send(call);
  } else {
    return call();
  }
}
template <class H, class Call>
GASMETER_INLINE bool looking(Call call) {
  if constexpr (H::kStamped) {
    return stamped_receive(call);
  } else {
    return call();
  }
}

}  // namespace gasmeter::networks::mpi

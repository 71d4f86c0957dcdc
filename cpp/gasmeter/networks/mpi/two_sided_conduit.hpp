// What both protocols of the mpi conduit have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "gasmeter/base/stamped_call.hpp"
#include "gasmeter/networks/classic_messages.hpp"
#include "gasmeter/services/two_sided_service.hpp"

namespace gasmeter::networks::mpi {

// Buffers of messages, each on lines of its own.
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

// Calls of a real MPI leave time stamps where the rank takes any.
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

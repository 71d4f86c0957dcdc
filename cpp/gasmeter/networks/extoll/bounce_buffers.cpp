#include "gasmeter/networks/extoll/bounce_buffers.hpp"

#include <sys/mman.h>

#include <bit>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::extoll {

static_assert(BounceBuffers::kCount <= 8);

BounceBuffers::BounceBuffers() {
  constexpr Bytes bytes = kCount * kMostLong;
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw ResourceError("extoll: no address space for " + std::to_string(bytes) + " bytes that Longs are sent from");
  }
  memory_ = static_cast<std::byte*>(memory);
}

BounceBuffers::~BounceBuffers() {
  ::munmap(memory_, kCount * kMostLong);
}

std::byte* BounceBuffers::take() {
  const auto which = static_cast<unsigned>(std::countr_zero(free_));
  free_ = static_cast<std::uint8_t>(free_ & (free_ - 1));
  return memory_ + which * kMostLong;
}

void BounceBuffers::give(const std::byte* buffer) {
  free_ = static_cast<std::uint8_t>(free_ | 1U << (static_cast<Bytes>(buffer - memory_) / kMostLong));
}

}  // namespace gasmeter::networks::extoll

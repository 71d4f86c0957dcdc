#include "gasmeter/networks/ibv/buffers.hpp"

#include <sys/mman.h>

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::ibv {

Buffers::Buffers(unsigned count, Bytes stride) : stride_(stride), bytes_(count * stride), memory_(nullptr) {
  void* const memory =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw ResourceError("ibv: no address space for " + std::to_string(bytes_) + " bytes of registered buffers");
  }
  memory_ = static_cast<std::byte*>(memory);
  for (std::uint32_t which = count; which-- != 0;) free_.push_back(which);
}

Buffers::~Buffers() {
  ::munmap(memory_, bytes_);
}

}  // namespace gasmeter::networks::ibv

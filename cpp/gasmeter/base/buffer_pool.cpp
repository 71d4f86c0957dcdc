#include "gasmeter/base/buffer_pool.hpp"

#include <sys/mman.h>

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter {

BufferPool::BufferPool(const char* network, unsigned count, Bytes stride) : stride_(stride), numbers_(0, count) {
  const Bytes bytes = count * stride;
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw ResourceError(std::string(network) + ": no address space for " + std::to_string(bytes) +
                        " bytes of registered buffers");
  }
  memory_ = static_cast<std::byte*>(memory);
}

BufferPool::~BufferPool() {
  ::munmap(memory_, numbers_.count() * stride_);
}

}  // namespace gasmeter

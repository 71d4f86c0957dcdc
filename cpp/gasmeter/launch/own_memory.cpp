#include "gasmeter/launch/own_memory.hpp"

#include <sys/mman.h>

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/available_memory.hpp"

namespace gasmeter::launch {

OwnMemory::OwnMemory(Bytes bytes) : bytes_(bytes) {
  const Bytes free = available_memory();
  if (bytes > free) {
    throw ResourceError("no memory for " + std::to_string(bytes) + " bytes; " + std::to_string(free) + " are free");
  }
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw_errno("mmap of " + std::to_string(bytes) + " bytes");
  // Huge pages save page look-ups; without them access is only slower.
  (void)::madvise(data, bytes, MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(data);
}

OwnMemory::~OwnMemory() {
  ::munmap(data_, bytes_);
}

}  // namespace gasmeter::launch

#include "gasmeter/launch/shared_mapping.hpp"

#include <sys/mman.h>

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {

SharedMapping::SharedMapping(int job_fd, Bytes offset, Bytes bytes, std::byte* place) {
  const int flags =
      MAP_SHARED | (place != nullptr ? MAP_FIXED : 0);  // fixed: replaces the mapping that set the addresses aside
  void* address = ::mmap(place, bytes, PROT_READ | PROT_WRITE, flags, job_fd, static_cast<off_t>(offset));
  if (address == MAP_FAILED) throw_errno("mmap of " + std::to_string(bytes) + " bytes of shared memory");
  data_ = static_cast<std::byte*>(address);
  size_ = bytes;
  in_window_ = place != nullptr;
}

SharedMapping::~SharedMapping() {
  if (data_ == nullptr) return;
  // A freed place in the window is set aside again, so that no other mapping can move into the hole.
  constexpr int kSetAside = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (in_window_ && ::mmap(data_, size_, PROT_NONE, kSetAside, -1, 0) != MAP_FAILED) return;
  ::munmap(data_, size_);
}

}  // namespace gasmeter::launch

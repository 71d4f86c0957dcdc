#include "gasmeter/launch/shared_mapping.hpp"

#include <sys/mman.h>

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {

SharedMapping::SharedMapping(int job_fd, Bytes offset, Bytes bytes) {
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, job_fd, static_cast<off_t>(offset));
  if (address == MAP_FAILED) throw_errno("mmap of " + std::to_string(bytes) + " bytes of shared memory");
  data_ = static_cast<std::byte*>(address);
  size_ = bytes;
}

SharedMapping::~SharedMapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace gasmeter::launch

// Zeroed memory that the ranks of a test job share, mapped any number of times.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::testing {

class SharedBlock {
 public:
  explicit SharedBlock(Bytes bytes) : bytes_(bytes), file_(::memfd_create("gasmeter-test", MFD_CLOEXEC)) {
    if (file_ < 0) throw_errno("memfd_create");
    if (::ftruncate(file_, static_cast<off_t>(bytes)) != 0) throw_errno("ftruncate");
  }
  SharedBlock(const SharedBlock&) = delete;
  SharedBlock& operator=(const SharedBlock&) = delete;
  ~SharedBlock() {
    for (void* address : mappings_) ::munmap(address, bytes_);
    ::close(file_);
  }

  // Map the memory again at another address, as another process would; the mapping lives as long as the block.
  [[nodiscard]] std::byte* map() {
    void* address = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (address == MAP_FAILED) throw_errno("mmap");
    mappings_.push_back(address);
    return static_cast<std::byte*>(address);
  }

 private:
  Bytes bytes_;
  int file_;
  std::vector<void*> mappings_;
};

}  // namespace gasmeter::testing

// Memory of one rank that no other process sees.
#pragma once

#include <cstddef>

#include "gasmeter/base/units.hpp"

namespace gasmeter::launch {

// Pages of this process alone, zeroed when they are first touched.
class OwnMemory {
 public:
  // Throws ResourceError if that much is not free.
  explicit OwnMemory(Bytes bytes);
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
  ~OwnMemory();

  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  Bytes bytes_;
};

}  // namespace gasmeter::launch

// A range of the job file as memory of this process.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "gasmeter/base/units.hpp"

namespace gasmeter::launch {

class SharedMapping {
 public:
  SharedMapping() = default;
  // `place`: address in a window that was set aside; null: the kernel chooses. Throws ResourceError if the address
  // space has no room.
  SharedMapping(int job_fd, Bytes offset, Bytes bytes, std::byte* place = nullptr);
  SharedMapping(SharedMapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        in_window_(std::exchange(other.in_window_, false)) {}
  SharedMapping& operator=(SharedMapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(in_window_, other.in_window_);
    return *this;
  }
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;
  ~SharedMapping();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] Bytes size() const { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  Bytes size_ = 0;
  bool in_window_ = false;
};

}  // namespace gasmeter::launch

// Memory of a Python object that offers the buffer protocol, held while this object lives.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::bindings {

namespace py = pybind11;

enum class Access : std::uint8_t { read, write };

class Buffer {
 public:
  Buffer() = default;
  // Throws UsageError naming the call unless `object` offers contiguous memory (writable memory, for writing).
  Buffer(const char* call, py::handle object, Access access) {
    if (PyObject_GetBuffer(object.ptr(), &view_, access == Access::write ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0) {
      view_.obj = nullptr;
      refuse(call, object, access);
    }
  }
  Buffer(Buffer&& other) noexcept : view_(other.view_) { other.view_.obj = nullptr; }
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(view_.buf); }
  [[nodiscard]] Bytes size() const { return static_cast<Bytes>(view_.len); }

 private:
  [[noreturn]] static void refuse(const char* call, py::handle object, Access access) {
    const std::string reason = py::error_already_set().what();  // also clears it
    throw UsageError(std::string(call) + ": " + Py_TYPE(object.ptr())->tp_name + " is not " +
                     (access == Access::write ? "writable, " : "") +
                     "contiguous memory; allowed: bytes, bytearray, memoryview, C-contiguous NumPy arrays (" +
                     reason.substr(0, reason.find('\n')) + ")");
  }

  Py_buffer view_{};
};

}  // namespace gasmeter::bindings

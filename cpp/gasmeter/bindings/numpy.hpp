// Memory of C++ objects as NumPy arrays.
#pragma once

#include <pybind11/numpy.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace gasmeter::bindings {

// Return a writable array of bytes over `memory`, without a copy; it keeps `owner` alive.
[[nodiscard]] inline pybind11::array_t<std::uint8_t> bytes_view(std::span<std::byte> memory, pybind11::handle owner) {
  return pybind11::array_t<std::uint8_t>(static_cast<pybind11::ssize_t>(memory.size()),
                                         reinterpret_cast<const std::uint8_t*>(memory.data()), owner);
}

// Tell whether a buffer was ever taken from this very array (as a memoryview does), not from a view of it. NumPy keeps
// the buffer's description until the array ends, and reports nothing when the last buffer goes.
[[nodiscard]] inline bool was_lent(const pybind11::object& array) {
  struct Array {  // PyArrayObject_fields of NumPy 2 from its start
    pybind11::detail::PyArray_Proxy proxy;
    PyObject* weak_references;
    void* buffer_info;
  };
  return reinterpret_cast<const Array*>(array.ptr())->buffer_info != nullptr;
}

}  // namespace gasmeter::bindings

// Memory of C++ objects as NumPy arrays.
#pragma once

#include <pybind11/numpy.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace gasmeter::bindings {

// A writable array of bytes over `memory`, without a copy; it keeps `owner` alive.
[[nodiscard]] inline pybind11::array_t<std::uint8_t> bytes_view(std::span<std::byte> memory, pybind11::handle owner) {
  return pybind11::array_t<std::uint8_t>(static_cast<pybind11::ssize_t>(memory.size()),
                                         reinterpret_cast<const std::uint8_t*>(memory.data()), owner);
}

}  // namespace gasmeter::bindings

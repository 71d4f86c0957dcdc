// Differences between versions of CPython.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "gasmeter/base/platform.hpp"

namespace gasmeter::bindings {

// Tell whether an int has one digit (30 bits), so that its value can be read without a call.
GASMETER_INLINE bool is_small_integer(PyObject* object) {
  if (!PyLong_CheckExact(object)) return false;
#if PY_VERSION_HEX >= 0x030C0000
  return PyUnstable_Long_IsCompact(reinterpret_cast<PyLongObject*>(object)) != 0;
#else
  return static_cast<std::size_t>(Py_SIZE(object) + 1) <= 2;
#endif
}

GASMETER_INLINE std::int64_t small_integer(PyObject* object) {
  auto* number = reinterpret_cast<PyLongObject*>(object);
#if PY_VERSION_HEX >= 0x030C0000
  return PyUnstable_Long_CompactValue(number);
#else
  return Py_SIZE(object) * static_cast<std::int64_t>(number->ob_digit[0]);
#endif
}

}  // namespace gasmeter::bindings

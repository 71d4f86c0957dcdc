// Methods that bypass pybind11's dispatcher, for calls whose work takes no longer than the dispatch.
//
// CPython passes the arguments as an array; no memory is allocated and no overloads are tried. Measured: an empty
// pybind11 method costs several times an empty method of this kind, and each converted integer as much again.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/bindings/errors.hpp"
#include "gasmeter/bindings/python_version.hpp"

namespace gasmeter::bindings {

namespace py = pybind11;

using FastFunction = PyObject* (*)(PyObject* self, PyObject* const* arguments, Py_ssize_t count);

// Add a method to a type; `definition` must live as long as the module.
inline void add_fast_method(py::handle type, PyMethodDef& definition) {
  auto method =
      py::reinterpret_steal<py::object>(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &definition));
  if (!method) throw py::error_already_set();
  py::setattr(type, definition.ml_name, method);
}

// PyMethodDef stores every kind of function under one type and casts it back by its flags.
inline PyMethodDef fast_method(const char* name, FastFunction function, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, doc};
}

// The same for functions that also take arguments by name.
using KeywordFunction = PyObject* (*)(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names);
inline PyMethodDef keyword_method(const char* name, KeywordFunction function, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL | METH_KEYWORDS,
          doc};
}

// Return the C++ object behind `self`, whose type the method descriptor has checked.
template <class T>
GASMETER_INLINE T& object_of(PyObject* self) {
  auto* instance = reinterpret_cast<py::detail::instance*>(self);
  void* object = GASMETER_LIKELY(instance->simple_layout) ? instance->simple_value_holder[0]
                                                          : instance->get_value_and_holder().value_ptr();
  if (GASMETER_UNLIKELY(object == nullptr)) throw py::type_error("the object was never initialised");
  return *static_cast<T*>(object);
}

// Call `body`, which returns a new reference; exceptions become Python's.
template <class Body>
GASMETER_INLINE PyObject* guarded(Body body) noexcept {
  try {
    return body();
  } catch (...) {
    set_current_exception();
    return nullptr;
  }
}

[[noreturn]] void refuse_integer(const char* call, const char* what, PyObject* value);

// Return a whole number of 64 bits; throws TypeError or UsageError naming call and parameter.
GASMETER_INLINE std::int64_t integer(const char* call, const char* what, PyObject* value) {
  if (GASMETER_LIKELY(is_small_integer(value))) return small_integer(value);
  const long long number = PyLong_AsLongLong(value);
  if (GASMETER_UNLIKELY(number == -1 && PyErr_Occurred() != nullptr)) refuse_integer(call, what, value);
  return number;
}

}  // namespace gasmeter::bindings

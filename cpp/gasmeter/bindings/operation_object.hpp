// An operation that a program yields: its name and its arguments. The driver of the program carries it out.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <span>

#include "gasmeter/bindings/call.hpp"

namespace gasmeter::bindings {

struct OperationObject {
  PyObject_HEAD PyObject* name;
  PyObject* arguments;  // a tuple
  PyObject* wrap;       // makes the result; null: unchanged
  int flags;
  bool carried_out;
};

// Make an operation to be yielded; `wrap`, which may be null, receives its result. Returns a new reference.
[[nodiscard]] PyObject* operation_object(PyObject* name, std::span<PyObject* const> values, core::Flags flags,
                                         PyObject* wrap);
// Return the call that a program has yielded: an operation or an event to wait for. Throws UsageError for anything
// else.
[[nodiscard]] std::unique_ptr<Call> parse_yielded(PyObject* yielded, Endpoint& endpoint, bool in_handler);
// Return the Python exception for a C++ exception that an operation has thrown; with the GIL.
[[nodiscard]] py::object exception_object(const std::exception_ptr& error, Endpoint& endpoint);
// Make the iterator of `await`: yields the object, returns the value that is sent. Returns a new reference.
[[nodiscard]] PyObject* steps_of(PyObject* awaited);

}  // namespace gasmeter::bindings

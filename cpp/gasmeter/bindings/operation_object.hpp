// What a program yields: the name of an operation and its arguments, to be carried out by whoever drives the program.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <span>

#include "gasmeter/bindings/call.hpp"

namespace gasmeter::bindings {

struct OperationObject {
  PyObject_HEAD PyObject* name;
  PyObject* arguments;  // a tuple
  PyObject* wrap;       // what the result becomes; null: it stays
  int flags;
  bool carried_out;
};

// One to be yielded; `wrap`, which may be null, is handed its result. A new reference.
[[nodiscard]] PyObject* operation_object(PyObject* name, std::span<PyObject* const> values, core::Flags flags,
                                         PyObject* wrap);
// The call that a program has yielded, an operation or an event to wait for. Throws UsageError for anything else.
[[nodiscard]] std::unique_ptr<Call> parse_yielded(PyObject* yielded, Endpoint& endpoint, bool in_handler);
// The Python exception of a C++ one that an operation has thrown, with the GIL.
[[nodiscard]] py::object exception_object(const std::exception_ptr& error, Endpoint& endpoint);
// What `await` steps through: yields the object, returns what is sent. A new reference.
[[nodiscard]] PyObject* steps_of(PyObject* awaited);

}  // namespace gasmeter::bindings

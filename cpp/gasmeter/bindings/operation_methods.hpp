// Operations of a table as methods of the endpoint's type.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "gasmeter/bindings/call.hpp"
#include "gasmeter/bindings/fast_method.hpp"

namespace gasmeter::bindings {

// CPython hands a method nothing that says which one it is: each operation has a function of its own.
template <const auto& kTable, std::size_t I>
PyObject* operation_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return guarded([&] { return call_method(kTable[I], self, arguments, count, names); });
}

// Those with a doc; others belong to another object, or have a faster method. kTable: an array of OperationInfo.
template <const auto& kTable>
void add_operation_methods(py::handle type) {
  static auto definitions = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array{keyword_method(kTable[I].name, &operation_method<kTable, I>, kTable[I].doc)...};
  }(std::make_index_sequence<std::size(kTable)>());
  for (PyMethodDef& definition : definitions) {
    if (definition.ml_doc != nullptr) add_fast_method(type, definition);
  }
}

}  // namespace gasmeter::bindings

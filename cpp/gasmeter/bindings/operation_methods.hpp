// Operations of a table as methods: of compiled objects, which block, and of programs, which yield them.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include "gasmeter/bindings/call.hpp"

namespace gasmeter::bindings {

// CPython does not tell a method which one it is, so that each operation has functions of its own.
struct Entry {
  const Operation* operation;
  KeywordFunction blocking;
  KeywordFunction making;
};

template <const auto& kTable, std::size_t I>
PyObject* blocking_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return guarded([&] { return call_method(kTable[I], self, arguments, count, names); });
}

template <const auto& kTable, std::size_t I>
PyObject* making_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    static PyObject* const name = PyUnicode_InternFromString(kTable[I].name);
    return make_method(kTable[I], name, self, arguments, count, names);
  });
}

// Return the entries of kTable, an array of Operation.
template <const auto& kTable>
std::span<const Entry> entries_of() {
  static constexpr auto kEntries = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array{Entry{&kTable[I],
                            kTable[I].blocking != nullptr ? kTable[I].blocking : &blocking_method<kTable, I>,
                            &making_method<kTable, I>}...};
  }(std::make_index_sequence<std::size(kTable)>());
  return kEntries;
}

// Add the operations of one object as blocking methods of its compiled type.
void add_operations(py::handle type, Object object);

}  // namespace gasmeter::bindings

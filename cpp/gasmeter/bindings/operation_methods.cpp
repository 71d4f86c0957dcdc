#include "gasmeter/bindings/operation_methods.hpp"

#include <pybind11/stl.h>

#include <deque>
#include <string>
#include <unordered_map>

#include "gasmeter/bindings/operation_object.hpp"
#include "gasmeter/bindings/registration.hpp"

namespace gasmeter::bindings {
namespace {

using namespace py::literals;

struct MethodsOf {
  Object object;
  const char* name;      // of the compiled type; null: its methods are none of the compiled type's
  const char* programs;  // of what objects of programs inherit
};
constexpr MethodsOf kObjects[] = {{Object::endpoint, "Endpoint", "EndpointOperations"},
                                  {Object::prepared, "Prepared", "PreparedOperations"},
                                  {Object::token, "Token", "TokenOperations"},
                                  {Object::team, nullptr, "TeamOperations"}};

// The table.
const std::vector<Entry>& all_operations() {
  static const std::vector<Entry> entries = [] {
    std::vector<Entry> made;
    for (const auto topic : {transfer_operations(), strided_operations(), message_operations(), prepared_operations(),
                             atomic_operations(), collective_operations(), waiting_operations(), token_operations()}) {
      made.insert(made.end(), topic.begin(), topic.end());
    }
    return made;
  }();
  return entries;
}

void add_methods(py::handle type, Object object, bool in_programs) {
  static std::deque<std::pair<std::string, PyMethodDef>> methods;  // as long as the module
  for (const auto& [operation, blocking, making] : all_operations()) {
    if (operation->object != object || (in_programs && !operation->in_programs)) continue;
    auto& [doc, method] = methods.emplace_back(doc_of(*operation, in_programs), PyMethodDef());
    method = keyword_method(operation->method, in_programs ? making : blocking, doc.c_str());
    add_fast_method(type, method);
  }
}

// What it is by default, where something behind it was given.
py::object default_of(const Parameter& parameter) {
  return py::module_::import("builtins").attr("eval")(py::str(parameter.value.data(), parameter.value.size()));
}

py::list described() {
  py::list all;
  for (const Entry& entry : all_operations()) {
    const Operation& operation = *entry.operation;
    py::dict stubs;
    for (const auto& [object, name, programs] : kObjects) {
      if (operation.object != object) continue;
      if (name != nullptr) stubs[name] = stubs_of(operation, false);
      if (operation.in_programs) stubs[programs] = stubs_of(operation, true);
    }
    all.append(py::dict("name"_a = operation.name, "method"_a = operation.method, "stubs"_a = stubs));
  }
  return all;
}

}  // namespace

const Operation* find_operation(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const Operation*> made;
    for (const Entry& entry : all_operations()) made.emplace(entry.operation->name, entry.operation);
    return made;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

void add_operations(py::handle type, Object object) {
  add_methods(type, object, false);
}

PyObject* make_method(const Operation& operation, PyObject* name, PyObject* self, PyObject* const* arguments,
                      Py_ssize_t count, PyObject* names) {
  std::vector<PyObject*> given;
  given.reserve(static_cast<std::size_t>(count) + 2);
  py::object core;
  if (operation.objects != 0) {
    core = py::getattr(self, "_core");
    given.push_back(core.ptr());
  }
  given.insert(given.end(), arguments, arguments + count);
  const core::Flags flags = take_named(operation, given, arguments + count, names);
  check_count(operation, given);
  std::vector<py::object> defaults;
  for (std::size_t i = operation.least; i < given.size(); ++i) {
    if (given[i] != nullptr) continue;
    given[i] = defaults.emplace_back(default_of(operation.parameters[i - operation.objects])).ptr();
  }
  const py::object wrap = operation.result.wrapped.empty() ? py::object() : py::getattr(self, "_wrapped");
  if (operation.object != Object::team) return operation_object(name, given, flags, wrap.ptr());
  // Teams call here or make operations, as whoever made them said.
  given.insert(given.begin(), name);
  const py::dict more = wrap ? py::dict("wrap"_a = wrap) : py::dict();
  PyObject* const result =
      PyObject_VectorcallDict(py::getattr(self, "_call").ptr(), given.data(), given.size(), more.ptr());
  if (result == nullptr) throw py::error_already_set();
  return result;
}

void register_operations(py::module_& module) {
  module.def("operations", &described, R"(Return what programs can have carried out, the table that methods are made of.

Returns
-------
list of dict
    Of each its ``name``, its ``method``, and by the names of the classes that have it what type checkers read of it.
)");
  for (const MethodsOf& each : kObjects) {
    static std::deque<std::pair<std::string, std::string>> texts;  // as long as the module
    const auto& [name, doc] = texts.emplace_back(
        std::string("gasmeter._core.") + each.programs,
        "What a program yields of one object: methods that make an `Operation` of it (of a team also: that block).");
    PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(doc.c_str())}, {0, nullptr}};
    PyType_Spec spec = {name.c_str(), 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    const auto type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
    if (!type) throw py::error_already_set();
    add_methods(type, each.object, true);
    module.attr(each.programs) = type;
  }
}

}  // namespace gasmeter::bindings

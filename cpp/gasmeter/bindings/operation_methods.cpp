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
  const char* name;      // name of the compiled type; null: the compiled type has no such methods
  const char* programs;  // class from which objects of programs inherit
};
constexpr MethodsOf kObjects[] = {{Object::endpoint, "Endpoint", "EndpointOperations"},
                                  {Object::prepared, "Prepared", "PreparedOperations"},
                                  {Object::token, "Token", "TokenOperations"},
                                  {Object::team, nullptr, "TeamOperations"}};

// Return the table of operations.
const std::vector<Entry>& all_operations() {
  static const std::vector<Entry> entries = [] {
    std::vector<Entry> made;
    for (const auto topic : {transfer_operations(), strided_operations(), message_operations(), prepared_operations(),
                             atomic_operations(), collective_operations(), space_operations(), stressmark_operations(),
                             waiting_operations(), token_operations()}) {
      made.insert(made.end(), topic.begin(), topic.end());
    }
    return made;
  }();
  return entries;
}

void add_methods(py::handle type, Object object, bool in_programs) {
  static std::deque<std::pair<std::string, PyMethodDef>> methods;  // live as long as the module
  for (const auto& [operation, blocking, making] : all_operations()) {
    if (operation->object != object || (in_programs && !operation->in_programs)) continue;
    auto& [doc, method] = methods.emplace_back(doc_of(*operation, in_programs), PyMethodDef());
    method = keyword_method(operation->method, in_programs ? making : blocking, doc.c_str());
    add_fast_method(type, method);
  }
}

// Counted values, completed by defaults where a later one was given by name.
class WithDefaults {
 public:
  WithDefaults(const Operation& operation, std::span<PyObject* const> values) : values_(values) {
    if (std::ranges::find(values, nullptr) == values.end()) return;
    const py::object eval = py::module_::import("builtins").attr("eval");
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != nullptr) {
        kept_.push_back(py::reinterpret_borrow<py::object>(values[i]));
      } else {
        const std::string_view value = operation.parameters[i - operation.objects].value;
        kept_.push_back(eval(py::str(value.data(), value.size())));
      }
      filled_.push_back(kept_.back().ptr());
    }
    values_ = filled_;
  }
  [[nodiscard]] std::span<PyObject* const> get() const { return values_; }

 private:
  std::span<PyObject* const> values_;
  std::vector<py::object> kept_;
  std::vector<PyObject*> filled_;
};

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
  const auto match = by_name.find(name);
  return match == by_name.end() ? nullptr : match->second;
}

void add_operations(py::handle type, Object object) {
  add_methods(type, object, false);
}

PyObject* make_method(const Operation& operation, PyObject* name, PyObject* self, PyObject* const* arguments,
                      Py_ssize_t count, PyObject* names) {
  const py::object core = operation.objects == 0 ? py::object() : py::getattr(self, "_core");
  const Given given(operation, core.ptr(), arguments, count, names);
  check_count(operation, given.values());
  const WithDefaults values(operation, given.values());
  const py::object wrap = operation.result.wrapped.empty() ? py::object() : py::getattr(self, "_wrapped");
  if (operation.object != Object::team) return operation_object(name, values.get(), given.flags(), wrap.ptr());
  // A team's method calls at once or makes an operation, depending on how the team was made.
  std::vector<PyObject*> all{name};
  all.insert(all.end(), values.get().begin(), values.get().end());
  const py::dict more = wrap ? py::dict("wrap"_a = wrap) : py::dict();
  PyObject* const result =
      PyObject_VectorcallDict(py::getattr(self, "_call").ptr(), all.data(), all.size(), more.ptr());
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
    static std::deque<std::pair<std::string, std::string>> texts;  // live as long as the module
    const auto& [name, doc] = texts.emplace_back(
        std::string("gasmeter._core.") + each.programs,
        "Methods that make an `Operation` of one object, to be yielded; of a team also those that carry it out.");
    PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(doc.c_str())}, {0, nullptr}};
    PyType_Spec spec = {name.c_str(), 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    const auto type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
    if (!type) throw py::error_already_set();
    add_methods(type, each.object, true);
    module.attr(each.programs) = type;
  }
}

}  // namespace gasmeter::bindings

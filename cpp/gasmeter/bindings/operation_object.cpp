#include "gasmeter/bindings/operation_object.hpp"

#include <structmember.h>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/errors.hpp"
#include "gasmeter/bindings/event.hpp"
#include "gasmeter/bindings/fast_method.hpp"

namespace gasmeter::bindings {
namespace {

// Types of the module; made once, at its import.
struct Types {
  PyTypeObject* operation = nullptr;
  PyTypeObject* steps = nullptr;
};
Types& types() {
  static Types the_types;
  return the_types;
}

// ---- Operation(name, *arguments, flags=0, wrap=None)

PyObject* make_operation(PyObject* /*type*/, PyObject* const* arguments, std::size_t count_and_flag, PyObject* names) {
  const Py_ssize_t count = PyVectorcall_NARGS(count_and_flag);
  return guarded([&]() -> PyObject* {
    if (count < 1 || !PyUnicode_Check(arguments[0])) {
      throw py::type_error("Operation(name, *arguments, flags=0, wrap=None): name must be a str");
    }
    core::Flags flags = core::Flags::none;
    PyObject* wrap = nullptr;
    for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_GET_SIZE(names); ++i) {
      PyObject* const value = arguments[count + i];
      if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "flags") == 0) {
        flags = flags_of(PyUnicode_AsUTF8(arguments[0]), value);
      } else if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "wrap") == 0) {
        wrap = value == Py_None ? nullptr : value;
      } else {
        throw py::type_error("Operation(name, *arguments, flags=0, wrap=None): unexpected argument");
      }
    }
    return operation_object(arguments[0], {arguments + 1, static_cast<std::size_t>(count - 1)}, flags, wrap);
  });
}

// Warn about an operation that was never yielded.
void warn_forgotten(const OperationObject& self) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  if (PyErr_WarnFormat(PyExc_RuntimeWarning, 2, "%U was never carried out: write `yield ep.%U(...)`", self.name,
                       self.name) != 0) {
    PyErr_WriteUnraisable(nullptr);
  }
  PyErr_Restore(type, value, trace);
}

void end_operation(PyObject* object) {
  auto* const self = reinterpret_cast<OperationObject*>(object);
  if (!self->carried_out) warn_forgotten(*self);
  Py_DECREF(self->name);
  Py_DECREF(self->arguments);
  Py_XDECREF(self->wrap);
  PyTypeObject* const type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

PyObject* show_operation(PyObject* object) {
  const auto* const self = reinterpret_cast<OperationObject*>(object);
  return guarded([&] {
    std::string text;
    for (const py::handle argument : py::reinterpret_borrow<py::tuple>(self->arguments)) {
      text += (text.empty() ? "" : ", ") + py::repr(argument).cast<std::string>();
    }
    return PyUnicode_FromFormat("%U(%s)", self->name, text.c_str());
  });
}

PyMemberDef operation_members[] = {
    {"name", T_OBJECT, offsetof(OperationObject, name), READONLY, "Method of the endpoint (str)."},
    {"arguments", T_OBJECT, offsetof(OperationObject, arguments), READONLY, "Its arguments (tuple)."},
    {"wrap", T_OBJECT, offsetof(OperationObject, wrap), READONLY, "What the result is handed to (callable or None)."},
    {"flags", T_INT, offsetof(OperationObject, flags), READONLY, "0 or gasmeter.IMMEDIATE (int)."},
    {"carried_out", T_BOOL, offsetof(OperationObject, carried_out), 0, "Whether somebody has carried it out (bool)."},
    {nullptr, 0, 0, 0, nullptr}};

// ---- iterator of `await`: the operation, then its result

struct StepsObject {
  PyObject_HEAD PyObject* awaited;  // null: it has been yielded
};

PySendResult send_step(PyObject* object, PyObject* value, PyObject** result) {
  auto* const self = reinterpret_cast<StepsObject*>(object);
  if (self->awaited != nullptr) {
    *result = std::exchange(self->awaited, nullptr);
    return PYGEN_NEXT;
  }
  *result = Py_NewRef(value);
  return PYGEN_RETURN;
}

PyObject* next_step(PyObject* object) {
  auto* const self = reinterpret_cast<StepsObject*>(object);
  return std::exchange(self->awaited, nullptr);
}

PyObject* send_method(PyObject* object, PyObject* value) {
  PyObject* result = nullptr;
  if (send_step(object, value, &result) == PYGEN_NEXT) return result;
  PyObject* const stop = PyObject_CallOneArg(PyExc_StopIteration, result);
  Py_DECREF(result);
  if (stop == nullptr) return nullptr;
  PyErr_SetObject(PyExc_StopIteration, stop);
  Py_DECREF(stop);
  return nullptr;
}

void end_steps(PyObject* object) {
  Py_XDECREF(reinterpret_cast<StepsObject*>(object)->awaited);
  PyTypeObject* const type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

PyMethodDef steps_methods[] = {{"send", &send_method, METH_O, "Send the result of the operation."},
                               {nullptr, nullptr, 0, nullptr}};

template <class F>
void* slot(F* function) {
  return reinterpret_cast<void*>(function);
}

// An operation whose result is passed to `wrap`.
class Wrapping final : public Call {
 public:
  Wrapping(std::unique_ptr<Call> inner, PyObject* wrap)
      : inner_(std::move(inner)), wrap_(py::reinterpret_borrow<py::object>(wrap)) {}
  void run(Endpoint& endpoint) override { inner_->run(endpoint); }
  PyObject* result(PyObject* self) override {
    const auto result = py::reinterpret_steal<py::object>(inner_->result(self));
    if (!result) return nullptr;
    PyObject* const wrapped = PyObject_CallOneArg(wrap_.ptr(), result.ptr());
    if (wrapped == nullptr) throw py::error_already_set();
    return wrapped;
  }

 private:
  std::unique_ptr<Call> inner_;
  py::object wrap_;
};

void check_context(const Operation& operation, Endpoint& endpoint, bool in_handler) {
  if (operation.object == Object::prepared) return;
  if (operation.object == Object::token) {
    if (!in_handler) throw UsageError(std::string(operation.name) + ": only while the token's handler runs");
  } else if (in_handler) {
    endpoint.enter(operation.name);
  } else {
    endpoint.enter_operation(operation.name);
  }
}

}  // namespace

PyObject* operation_object(PyObject* name, std::span<PyObject* const> values, core::Flags flags, PyObject* wrap) {
  const auto arguments = py::reinterpret_steal<py::object>(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  if (!arguments) throw py::error_already_set();
  for (std::size_t i = 0; i < values.size(); ++i) {
    PyTuple_SET_ITEM(arguments.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(values[i]));
  }
  auto* const self = PyObject_New(OperationObject, types().operation);
  if (self == nullptr) throw py::error_already_set();
  self->name = Py_NewRef(name);
  self->arguments = Py_NewRef(arguments.ptr());
  self->wrap = Py_XNewRef(wrap);
  self->flags = core::is_immediate(flags) ? 1 : 0;
  self->carried_out = false;
  return reinterpret_cast<PyObject*>(self);
}

PyObject* steps_of(PyObject* awaited) {
  auto* const steps = PyObject_New(StepsObject, types().steps);
  if (steps != nullptr) steps->awaited = Py_NewRef(awaited);
  return reinterpret_cast<PyObject*>(steps);
}

std::unique_ptr<Call> parse_yielded(PyObject* yielded, Endpoint& endpoint, bool in_handler) {
  if (!Py_IS_TYPE(yielded, types().operation)) {
    if (!in_handler && py::isinstance<Event>(yielded)) {
      static const Operation& wait = *find_operation("wait");
      endpoint.enter_operation(wait.name);
      endpoint.any().describe_wait(wait.name);
      return parse_operation(wait, endpoint, {&yielded, 1}, core::Flags::none);
    }
    throw UsageError("program yielded " + py::repr(yielded).cast<std::string>() +
                     "; it may yield operations of its endpoint, for instance `yield ep.barrier()`");
  }
  auto& self = *reinterpret_cast<OperationObject*>(yielded);
  self.carried_out = true;
  Py_ssize_t length = 0;
  const char* const name = PyUnicode_AsUTF8AndSize(self.name, &length);
  if (name == nullptr) throw py::error_already_set();
  const Operation* const operation = find_operation({name, static_cast<std::size_t>(length)});
  if (operation == nullptr) {
    throw UsageError("operation '" + py::cast<std::string>(self.name) + "' is unknown on this endpoint");
  }
  check_context(*operation, endpoint, in_handler);
  const std::span<PyObject* const> values(reinterpret_cast<PyTupleObject*>(self.arguments)->ob_item,
                                          static_cast<std::size_t>(PyTuple_GET_SIZE(self.arguments)));
  auto call =
      parse_operation(*operation, endpoint, values, self.flags != 0 ? core::Flags::immediate : core::Flags::none);
  endpoint.any().describe_wait(operation->name);
  if (self.wrap != nullptr) return std::make_unique<Wrapping>(std::move(call), self.wrap);
  return call;
}

py::object exception_object(const std::exception_ptr& error, Endpoint& endpoint) {
  try {
    std::rethrow_exception(error);
  } catch (const PythonRaised&) {
    endpoint.restore_kept();
  } catch (...) {
    set_current_exception();
  }
  const py::error_already_set current;
  return current.value();
}

void register_operation(py::module_& module) {
  static PyType_Slot operation_slots[] = {
      {Py_tp_dealloc, slot(&end_operation)},
      {Py_tp_repr, slot(&show_operation)},
      {Py_tp_members, operation_members},
      {Py_am_await, slot(&steps_of)},
      {Py_tp_doc, const_cast<char*>(R"(Operation(name, *arguments, flags=0, wrap=None)
--

One call of an endpoint, carried out when it is yielded (or awaited).

Parameters
----------
name : str
    Method of `Endpoint`.
*arguments : object
    Its arguments.
flags : int, default 0
    `gasmeter.IMMEDIATE`: be refused instead of waiting.
wrap : callable, optional
    What the result is handed to before the program gets it.
)")},
      {0, nullptr}};
  static PyType_Slot steps_slots[] = {{Py_tp_dealloc, slot(&end_steps)},  {Py_tp_iter, slot(&PyObject_SelfIter)},
                                      {Py_tp_iternext, slot(&next_step)}, {Py_am_send, slot(&send_step)},
                                      {Py_tp_methods, steps_methods},     {0, nullptr}};
  constexpr unsigned kTypeFlags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  static PyType_Spec operation_spec = {"gasmeter._core.Operation", sizeof(OperationObject), 0, Py_TPFLAGS_DEFAULT,
                                       operation_slots};
  static PyType_Spec steps_spec = {"gasmeter._core._Steps", sizeof(StepsObject), 0, kTypeFlags, steps_slots};
  const auto made = [](PyType_Spec& spec) {
    PyObject* const type = PyType_FromSpec(&spec);
    if (type == nullptr) throw py::error_already_set();
    return reinterpret_cast<PyTypeObject*>(type);
  };
  types() = {made(operation_spec), made(steps_spec)};
  types().operation->tp_vectorcall = &make_operation;
  module.attr("Operation") = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(types().operation));
}

}  // namespace gasmeter::bindings

// Operations of an endpoint, by name: arguments taken from Python, then carried out without Python, then a result for
// Python. One piece of code for calls that block on a rank process and for operations that a virtual rank is yielded.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/core/event.hpp"

namespace gasmeter::bindings {

class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  // On a virtual rank: on its fibre, without the GIL; touches no Python object.
  virtual void run(Endpoint& endpoint) = 0;
  // With the GIL, once, after run(); `self` is the endpoint's object. A new reference.
  virtual PyObject* result(PyObject* self) = 0;
};

// What an operation is called with. Values that were left out are null.
struct Arguments {
  const char* call;
  Endpoint& endpoint;
  std::span<PyObject* const> values;
  core::Flags flags = core::Flags::none;

  [[nodiscard]] PyObject* operator[](std::size_t i) const { return i < values.size() ? values[i] : nullptr; }
  [[nodiscard]] std::span<PyObject* const> from(std::size_t i) const {
    return i < values.size() ? values.subspan(i) : std::span<PyObject* const>();
  }
  [[nodiscard]] bool immediate() const { return core::is_immediate(flags); }
};

inline constexpr std::size_t kMostParameters = 6;

struct OperationInfo {
  const char* name;
  const char* signature;  // of messages
  std::array<const char*, kMostParameters> parameters;
  std::size_t least;  // arguments
  std::size_t most;   // kAnyNumber: words follow the parameters
  bool takes_flags;
  bool of_prepared;  // ends what is prepared, so it may come between
  bool in_handlers;  // of a token: allowed there, and nowhere else
  // With the GIL. Throws for what is not allowed.
  std::unique_ptr<Call> (*parse)(const Arguments& arguments);
  const char* doc;
};
inline constexpr std::size_t kAnyNumber = 64;

// A pybind object of type T behind an argument. Throws TypeError naming call and parameter.
template <class T>
T& object_argument(const Arguments& arguments, std::size_t i, const char* what, const char* type) {
  PyObject* const value = arguments[i];
  if (value == nullptr || !py::isinstance<T>(value)) {
    throw py::type_error(std::string(arguments.call) + ": " + what + " must be " + type + ", not " +
                         (value == nullptr ? "left out" : Py_TYPE(value)->tp_name));
  }
  return *py::cast<T*>(py::handle(value));
}

template <class T, auto... More>
std::unique_ptr<Call> make_call(const Arguments& arguments) {
  return std::make_unique<T>(arguments, More...);
}

// Flags as Python gives them. Throws UsageError naming the call for unknown ones.
[[nodiscard]] core::Flags flags_of(const char* call, PyObject* value);
inline constexpr unsigned kImmediateFlag = 1;

// By its name; null: there is none. `name` is a str.
[[nodiscard]] const OperationInfo* find_operation(PyObject* name);
// Arguments counted and flags taken, then parsed. Throws.
[[nodiscard]] std::unique_ptr<Call> parse_operation(const OperationInfo& operation, Endpoint& endpoint,
                                                    std::span<PyObject* const> values, core::Flags flags);

// What a call was given by name: values at their places, and flags.
struct NamedArguments {
  core::Flags flags = core::Flags::none;
};
// `given`: what was given by position; grows. `named`: the values behind it, of `names` (a tuple or null).
[[nodiscard]] NamedArguments named_arguments(const OperationInfo& operation, std::vector<PyObject*>& given,
                                             PyObject* const* named, PyObject* names);
// A method of the endpoint, called by position and by name.
[[nodiscard]] PyObject* call_method(const OperationInfo& operation, PyObject* self, PyObject* const* arguments,
                                    Py_ssize_t count, PyObject* names);

// Of a rank process: runs a call and returns its result, a new reference. One that fails may still be under way: it is
// kept as long as the endpoint.
[[nodiscard]] PyObject* run_now(std::unique_ptr<Call> call, Endpoint& endpoint, PyObject* self);

// Adds every operation as a method that blocks, for programs on rank processes.
void add_operations(py::handle endpoint_type);
// Parsed, run, and its result; `endpoint` is the endpoint's object. A new reference.
[[nodiscard]] PyObject* carry_out(const OperationInfo& operation, PyObject* endpoint, std::span<PyObject* const> values,
                                  core::Flags flags);

// ---- the operations, one table a topic; of most topics they are methods of the endpoint, too
[[nodiscard]] std::span<const OperationInfo> transfer_operations();
[[nodiscard]] std::span<const OperationInfo> strided_operations();
[[nodiscard]] std::span<const OperationInfo> message_operations();
[[nodiscard]] std::span<const OperationInfo> prepared_operations();
[[nodiscard]] std::span<const OperationInfo> atomic_operations();
[[nodiscard]] std::span<const OperationInfo> collective_operations();
[[nodiscard]] std::span<const OperationInfo> waiting_operations();
[[nodiscard]] std::span<const OperationInfo> token_operations();
void add_transfer_methods(py::handle endpoint_type);
void add_strided_methods(py::handle endpoint_type);
void add_message_methods(py::handle endpoint_type);
void add_prepared_methods(py::handle endpoint_type);
void add_atomic_methods(py::handle endpoint_type);
void add_waiting_methods(py::handle endpoint_type);

// True or False for an immediate operation, else None. A new reference.
[[nodiscard]] inline PyObject* outcome(bool immediate, bool taken) {
  return immediate ? PyBool_FromLong(taken ? 1 : 0) : Py_NewRef(Py_None);
}

}  // namespace gasmeter::bindings

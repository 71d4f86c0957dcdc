// Operations of an endpoint, by name: arguments are taken from Python, the operation runs without Python, and a result
// for Python is made. Blocking calls of a rank process and operations yielded on a virtual rank share this code.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/bindings/operation.hpp"
#include "gasmeter/core/event.hpp"

namespace gasmeter::bindings {

class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  // Run the operation; on a virtual rank on its fibre, without the GIL. Must not touch Python objects.
  virtual void run(Endpoint& endpoint) = 0;
  // Make the result with the GIL, once, after run(); `self` is the endpoint's object. Returns a new reference.
  virtual PyObject* result(PyObject* self) = 0;
};

// Arguments of an operation. Values that were left out are null.
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

// Return the object of type T behind an argument. Throws TypeError naming call and parameter.
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

// Convert flags from Python. Throws UsageError naming the call for unknown flags.
[[nodiscard]] core::Flags flags_of(const char* call, PyObject* value);
inline constexpr unsigned kImmediateFlag = 1;

// Find an operation by name; null: unknown.
[[nodiscard]] const Operation* find_operation(std::string_view name);
// Throw TypeError for too many or too few arguments.
void check_count(const Operation& operation, std::span<PyObject* const> values);
// Count and parse the arguments. Throws.
[[nodiscard]] std::unique_ptr<Call> parse_operation(const Operation& operation, Endpoint& endpoint,
                                                    std::span<PyObject* const> values, core::Flags flags);

// Arguments of a method call: positional ones as they came, else all at their places.
class Given {
 public:
  // `object`: becomes the first argument; null: no such argument. `names`: a tuple of the names of the values behind
  // the first `count`, or null.
  Given(const Operation& operation, PyObject* object, PyObject* const* arguments, Py_ssize_t count, PyObject* names)
      : values_(arguments, static_cast<std::size_t>(count)) {
    if (object != nullptr || names != nullptr) gather(operation, object, arguments + count, names);
  }
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;

  [[nodiscard]] std::span<PyObject* const> values() const { return values_; }
  [[nodiscard]] core::Flags flags() const { return flags_; }

 private:
  void gather(const Operation& operation, PyObject* object, PyObject* const* named, PyObject* names);

  std::span<PyObject* const> values_;
  std::vector<PyObject*> gathered_;
  core::Flags flags_ = core::Flags::none;
};
// Call a blocking method, with arguments by position and by name.
[[nodiscard]] PyObject* call_method(const Operation& operation, PyObject* self, PyObject* const* arguments,
                                    Py_ssize_t count, PyObject* names);
// Call a method of a program's object: makes the operation `name`, to be yielded.
[[nodiscard]] PyObject* make_method(const Operation& operation, PyObject* name, PyObject* self,
                                    PyObject* const* arguments, Py_ssize_t count, PyObject* names);

// Run a call on a rank process; returns a new reference to its result. A call that fails may still be under way and is
// kept as long as the endpoint.
[[nodiscard]] PyObject* run_now(std::unique_ptr<Call> call, Endpoint& endpoint, PyObject* self);

// Parse, run and return the result, a new reference; `endpoint` is the endpoint's object.
[[nodiscard]] PyObject* carry_out(const Operation& operation, PyObject* endpoint, std::span<PyObject* const> values,
                                  core::Flags flags);

// ---- the table of operations, in pieces by topic
struct Entry;
[[nodiscard]] std::span<const Entry> transfer_operations();
[[nodiscard]] std::span<const Entry> strided_operations();
[[nodiscard]] std::span<const Entry> message_operations();
[[nodiscard]] std::span<const Entry> prepared_operations();
[[nodiscard]] std::span<const Entry> atomic_operations();
[[nodiscard]] std::span<const Entry> collective_operations();
[[nodiscard]] std::span<const Entry> space_operations();
[[nodiscard]] std::span<const Entry> stressmark_operations();
[[nodiscard]] std::span<const Entry> waiting_operations();
[[nodiscard]] std::span<const Entry> token_operations();

// Return True or False for an immediate operation, else None; a new reference.
[[nodiscard]] inline PyObject* outcome(bool immediate, bool taken) {
  return immediate ? PyBool_FromLong(taken ? 1 : 0) : Py_NewRef(Py_None);
}

}  // namespace gasmeter::bindings

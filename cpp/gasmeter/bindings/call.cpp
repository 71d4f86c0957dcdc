#include "gasmeter/bindings/call.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/fast_method.hpp"
#include "gasmeter/bindings/parameters.hpp"
#include "gasmeter/bindings/prepared.hpp"

namespace gasmeter::bindings {

void check_count(const Operation& operation, std::span<PyObject* const> values) {
  const auto is_left_out = [](PyObject* value) { return value == nullptr; };
  if (values.size() >= operation.least && values.size() <= operation.most &&
      std::ranges::none_of(values.first(operation.least), is_left_out)) {
    return;
  }
  const auto given =
      std::ranges::count_if(values, std::not_fn(is_left_out)) - static_cast<std::ptrdiff_t>(operation.objects);
  throw py::type_error(signature_of(operation) + ": " + std::to_string(std::max<std::ptrdiff_t>(given, 0)) +
                       " arguments given");
}

void Given::gather(const Operation& operation, PyObject* object, PyObject* const* named, PyObject* names) {
  const Py_ssize_t count = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  gathered_.reserve(operation.objects + values_.size() + static_cast<std::size_t>(count));
  if (object != nullptr) gathered_.push_back(object);
  gathered_.insert(gathered_.end(), values_.begin(), values_.end());
  for (Py_ssize_t i = 0; i < count; ++i) {
    Py_ssize_t length = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(names, i), &length);
    if (text == nullptr) throw py::error_already_set();
    const std::string_view name(text, static_cast<std::size_t>(length));
    if (name == kFlags.name && operation.takes_flags) {
      flags_ = flags_of(operation.name, named[i]);
      continue;
    }
    const auto positional = operation.parameters.first(operation.positional);
    const auto match = std::ranges::find(positional, name, &Parameter::name);
    const std::size_t at = operation.objects + static_cast<std::size_t>(match - positional.begin());
    if (match == positional.end() || (at < gathered_.size() && gathered_[at] != nullptr)) {
      throw py::type_error(signature_of(operation) + ": unexpected argument '" + std::string(name) + "'");
    }
    if (gathered_.size() <= at) gathered_.resize(at + 1, nullptr);
    gathered_[at] = named[i];
  }
  values_ = gathered_;
}

PyObject* call_method(const Operation& operation, PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                      PyObject* names) {
  const bool is_prepared = operation.object == Object::prepared;
  const Given given(operation, is_prepared ? self : nullptr, arguments, count, names);
  if (!is_prepared) return carry_out(operation, self, given.values(), given.flags());
  return carry_out(operation, object_of<Prepared>(self).owner().ptr(), given.values(), given.flags());
}

core::Flags flags_of(const char* call, PyObject* value) {
  const std::int64_t flags = integer(call, "flags", value);
  if ((flags & ~std::int64_t{kImmediateFlag}) != 0) {
    throw UsageError(std::string(call) + ": flags " + std::to_string(flags) +
                     " are unknown; allowed: 0 or gasmeter.IMMEDIATE");
  }
  return flags != 0 ? core::Flags::immediate : core::Flags::none;
}

std::unique_ptr<Call> parse_operation(const Operation& operation, Endpoint& endpoint, std::span<PyObject* const> values,
                                      core::Flags flags) {
  check_count(operation, values);
  if (flags != core::Flags::none && !operation.takes_flags) {
    throw py::type_error(signature_of(operation) + ": takes no flags");
  }
  return operation.parse({operation.name, endpoint, values, flags});
}

PyObject* carry_out(const Operation& operation, PyObject* self, std::span<PyObject* const> values, core::Flags flags) {
  auto& endpoint = object_of<Endpoint>(self);
  const bool ends_what_is_prepared = operation.object == Object::prepared || operation.object == Object::token;
  if (!ends_what_is_prepared || endpoint.is_virtual()) endpoint.enter(operation.name);
  return run_now(parse_operation(operation, endpoint, values, flags), endpoint, self);
}

PyObject* run_now(std::unique_ptr<Call> call, Endpoint& endpoint, PyObject* self) {
  try {
    call->run(endpoint);
  } catch (...) {
    endpoint.keep(std::shared_ptr<Call>(std::move(call)));
    throw;
  }
  return call->result(self);
}

}  // namespace gasmeter::bindings

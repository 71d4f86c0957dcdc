#include "gasmeter/bindings/call.hpp"

#include <string>
#include <string_view>
#include <unordered_map>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/fast_method.hpp"

namespace gasmeter::bindings {
namespace {

using Table = std::unordered_map<std::string_view, const OperationInfo*>;

const Table& all_operations() {
  static const Table table = [] {
    Table made;
    for (const auto operations :
         {transfer_operations(), strided_operations(), message_operations(), prepared_operations(), atomic_operations(),
          collective_operations(), waiting_operations(), token_operations()}) {
      for (const OperationInfo& operation : operations) made.emplace(operation.name, &operation);
    }
    return made;
  }();
  return table;
}

[[noreturn]] void refuse_arguments(const OperationInfo& operation, std::size_t given) {
  throw py::type_error(std::string(operation.name) + operation.signature + ": " + std::to_string(given) +
                       " arguments given");
}

}  // namespace

NamedArguments named_arguments(const OperationInfo& operation, std::vector<PyObject*>& given, PyObject* const* named,
                               PyObject* names) {
  NamedArguments found;
  if (names == nullptr) return found;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    Py_ssize_t length = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(names, i), &length);
    if (text == nullptr) throw py::error_already_set();
    const std::string_view name(text, static_cast<std::size_t>(length));
    if (name == "flags" && operation.takes_flags) {
      found.flags = flags_of(operation.name, named[i]);
      continue;
    }
    std::size_t at = 0;
    while (at < kMostParameters && operation.parameters[at] != nullptr && name != operation.parameters[at]) ++at;
    const bool known = at < kMostParameters && operation.parameters[at] != nullptr;
    if (!known || (at < given.size() && given[at] != nullptr)) {
      throw py::type_error(std::string(operation.name) + operation.signature + ": unexpected argument '" +
                           std::string(name) + "'");
    }
    if (given.size() <= at) given.resize(at + 1, nullptr);
    given[at] = named[i];
  }
  return found;
}

PyObject* call_method(const OperationInfo& operation, PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                      PyObject* names) {
  std::vector<PyObject*> given(arguments, arguments + count);
  const NamedArguments named = named_arguments(operation, given, arguments + count, names);
  return carry_out(operation, self, given, named.flags);
}

core::Flags flags_of(const char* call, PyObject* value) {
  const std::int64_t flags = integer(call, "flags", value);
  if ((flags & ~std::int64_t{kImmediateFlag}) != 0) {
    throw UsageError(std::string(call) + ": flags " + std::to_string(flags) +
                     " are unknown; allowed: 0 or gasmeter.IMMEDIATE");
  }
  return flags != 0 ? core::Flags::immediate : core::Flags::none;
}

const OperationInfo* find_operation(PyObject* name) {
  Py_ssize_t length = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(name, &length);
  if (text == nullptr) throw py::error_already_set();
  const Table& table = all_operations();
  const auto found = table.find({text, static_cast<std::size_t>(length)});
  return found == table.end() ? nullptr : found->second;
}

std::unique_ptr<Call> parse_operation(const OperationInfo& operation, Endpoint& endpoint,
                                      std::span<PyObject* const> values, core::Flags flags) {
  if (values.size() < operation.least || values.size() > operation.most) refuse_arguments(operation, values.size());
  for (std::size_t i = 0; i < operation.least; ++i) {
    if (values[i] == nullptr) refuse_arguments(operation, values.size() - 1);
  }
  if (flags != core::Flags::none && !operation.takes_flags) {
    throw py::type_error(std::string(operation.name) + operation.signature + ": takes no flags");
  }
  return operation.parse({operation.name, endpoint, values, flags});
}

PyObject* carry_out(const OperationInfo& operation, PyObject* self, std::span<PyObject* const> values,
                    core::Flags flags) {
  auto& endpoint = object_of<Endpoint>(self);
  if (operation.of_prepared || operation.in_handlers) {
    if (endpoint.is_virtual()) endpoint.enter(operation.name);
  } else {
    endpoint.enter(operation.name);
  }
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

void add_operations(py::handle endpoint_type) {
  for (const auto add : {&add_transfer_methods, &add_strided_methods, &add_message_methods, &add_prepared_methods,
                         &add_atomic_methods, &add_waiting_methods}) {
    add(endpoint_type);
  }
}

}  // namespace gasmeter::bindings

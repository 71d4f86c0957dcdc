#include "gasmeter/bindings/message.hpp"

#include <limits>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/fast_method.hpp"
#include "gasmeter/core/handler_table.hpp"

namespace gasmeter::bindings {
namespace {

std::int32_t word(const char* call, PyObject* argument) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (is_small_integer(argument)) return static_cast<std::int32_t>(small_integer(argument));
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(argument, &overflow);
  const bool is_number = PyErr_Occurred() == nullptr;
  if (!is_number) PyErr_Clear();
  if (!is_number || overflow != 0 || value < Limits::min() || value > Limits::max()) {
    throw UsageError(std::string(call) + ": argument " + py::repr(argument).cast<std::string>() +
                     " is not a whole number of 32 bits (-2^31..2^31-1); larger ones go into the payload");
  }
  return static_cast<std::int32_t>(value);
}

}  // namespace

HandlerIndex handler_index(const char* call, PyObject* value) {
  const std::int64_t handler = integer(call, "handler", value);
  if (handler < core::kFirstClientHandler || handler >= index(kBarrierHandler)) {
    throw UsageError(std::string(call) + ": handler " + std::to_string(handler) +
                     " does not exist; allowed are the indices that register() returned");
  }
  return static_cast<HandlerIndex>(handler);
}

Words::Words(const char* call, std::span<PyObject* const> arguments) : count_(arguments.size()) {
  if (count_ > conduit::kMaxArguments) {
    throw UsageError(std::string(call) + ": " + std::to_string(count_) + " arguments; at most " +
                     std::to_string(conduit::kMaxArguments));
  }
  for (std::size_t i = 0; i < count_; ++i) words_[i] = word(call, arguments[i]);
}

}  // namespace gasmeter::bindings

#include "gasmeter/bindings/message.hpp"

#include <limits>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/buffer.hpp"
#include "gasmeter/bindings/operation_methods.hpp"
#include "gasmeter/bindings/parameters.hpp"
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

namespace {

class Request final : public Call {
 public:
  Request(const Arguments& arguments, bool is_long) : flags_(arguments.flags) {
    const char* const call = arguments.call;
    to_ = arguments.endpoint.checked_rank(call, integer(call, "rank", arguments[0]));
    message_.handler = handler_index(call, arguments[1]);
    if (arguments[2] != nullptr) payload_ = Buffer(call, arguments[2], Access::read);
    message_.from = payload_.data();
    message_.bytes = payload_.size();
    message_.category = is_long                ? conduit::Category::long_message
                        : payload_.size() != 0 ? conduit::Category::medium
                                               : conduit::Category::short_message;
    if (is_long) {
      const std::int64_t offset = integer(call, "offset", arguments[3]);
      message_.destination = arguments.endpoint.locate(call, index(to_), offset, payload_.size());
    }
    words_ = Words(call, arguments.from(is_long ? 4 : 3));
    message_.arguments = words_.get();
  }
  void run(Endpoint& endpoint) override { taken_ = endpoint.request(to_, message_, flags_); }
  PyObject* result(PyObject*) override { return outcome(core::is_immediate(flags_), taken_); }

 private:
  core::Flags flags_;
  Rank to_;
  core::Message message_;
  Words words_;
  Buffer payload_;
  bool taken_ = false;
};

// ---- the table

constexpr Parameter kLongPayload = buffer_parameter("payload", "Contiguous bytes, at most `max_long`.");
constexpr Parameter kPlace =
    integer_parameter("offset", "Where they go, in bytes from the start of the target's segment.");

constexpr Operation kMessages[] = {
    {.name = "request",
     .parameters = kParameters<kTarget, kHandler, kPayload, kWords, kFlags>,
     .summary = "Send an active message; its handler runs when the target polls.\n\n"
                "The payload may change when it is done.",
     .result = kWhetherSent,
     .raises = "For a rank, handler, size or argument that is not allowed, or in a handler.",
     .parse = &make_call<Request, false>},
    {.name = "request_long",
     .parameters = kParameters<kTarget, kHandler, kLongPayload, kPlace, kWords, kFlags>,
     .summary = "Send a Long: its payload is in the target's segment when its handler runs.\n\n"
                "The payload may change when it is done.",
     .result = kWhetherSent,
     .raises = "For a rank, handler, size, range or argument that is not allowed, or in a handler.",
     .parse = &make_call<Request, true>},
};

}  // namespace

std::span<const Entry> message_operations() {
  return entries_of<kMessages>();
}

}  // namespace gasmeter::bindings

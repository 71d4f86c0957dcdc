#include "gasmeter/bindings/prepared.hpp"

#include <pybind11/numpy.h>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/numpy.hpp"
#include "gasmeter/bindings/operation_methods.hpp"
#include "gasmeter/bindings/parameters.hpp"
#include "gasmeter/bindings/token.hpp"

namespace gasmeter::bindings {

Prepared::Prepared(py::object endpoint, std::unique_ptr<run::AnyPrepared> message, bool is_long, void* destination,
                   unsigned arguments)
    : owner_(std::move(endpoint)),
      endpoint_(py::cast<Endpoint&>(owner_)),
      message_(std::move(message)),
      size_(message_->size()),
      is_long_(is_long),
      destination_(destination),
      arguments_(arguments) {
  endpoint_.set_prepared(true);
}

Prepared::~Prepared() {
  empty_array();
  if (is_open()) endpoint_.abandon(std::move(message_), true);
}

void Prepared::drop() {
  if (!is_open()) return;
  check_views("cancel");
  empty_array();
  endpoint_.abandon(std::move(message_), false);
}

py::object Prepared::buffer() {
  if (!is_open()) throw UsageError("buffer: the message was committed or cancelled; its memory is the network's again");
  if (!array_) {
    memory_ = bytes_view({message_->data(), size_}, owner_);
    array_ = memory_.attr("view")();
  }
  return array_;
}

// NumPy lets views of views refer to the first array. A reference to it beside the two held here is therefore a view. A
// memoryview refers to the array passed to Python, as names do; only those references may stay.
void Prepared::check_views(const char* call) const {
  if (!memory_) return;
  const auto refuse = [call](const std::string& what) {
    throw UsageError(std::string(call) + ": " + what + ", the memory is the network's from now on");
  };
  const Py_ssize_t views = memory_.ref_count() - 2;
  if (views > 0) {
    refuse(std::to_string(views) + (views == 1 ? " view" : " views") +
           " of the buffer still in use; delete it first (del name)");
  }
  if (array_.ref_count() > 1 && was_lent(array_)) {
    refuse("a memoryview of the buffer may still be in use; delete it and every name of the buffer first (del name)");
  }
}

void Prepared::check(const char* call) const {
  if (!is_open()) throw UsageError(std::string(call) + ": the message was committed or cancelled before");
  check_views(call);
}

core::Message Prepared::message(const char* call, HandlerIndex handler, Bytes bytes,
                                std::span<const std::int32_t> words) const {
  if (bytes > size_) {
    throw UsageError(std::string(call) + ": " + std::to_string(bytes) + " bytes; 0 to " + std::to_string(size_) +
                     " are prepared");
  }
  if (words.size() != arguments_) {
    throw UsageError(std::string(call) + ": " + std::to_string(words.size()) +
                     " arguments; prepare was told args=" + std::to_string(arguments_));
  }
  return {is_long_ ? conduit::Category::long_message : conduit::Category::medium,
          handler,
          nullptr,
          bytes,
          destination_,
          words};
}

void Prepared::close() {
  empty_array();
  message_.reset();
  endpoint_.set_prepared(false);
}

// Empty the array, so that anyone who kept it finds it empty.
void Prepared::empty_array() {
  if (!array_) return;
  auto* const proxy = py::detail::array_proxy(array_.ptr());
  proxy->dimensions[0] = 0;
  proxy->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  array_ = py::object();
  memory_ = py::object();
}

PyObject* prepared_object(py::object endpoint, std::unique_ptr<run::AnyPrepared> message, const run::AnyPrepare& what) {
  if (message == nullptr) return Py_NewRef(Py_None);
  auto made =
      std::make_unique<Prepared>(std::move(endpoint), std::move(message),
                                 what.category == conduit::Category::long_message, what.destination, what.arguments);
  return py::cast(std::move(made)).release().ptr();
}

namespace {

Bytes size_argument(const Arguments& arguments, std::size_t i, const char* what) {
  const std::int64_t bytes = integer(arguments.call, what, arguments[i]);
  if (bytes < 0) {
    throw UsageError(std::string(arguments.call) + ": " + what + " " + std::to_string(bytes) + " bytes; at least 0");
  }
  return static_cast<Bytes>(bytes);
}

// Read least, most, args, offset from argument i on.
run::AnyPrepare what_to_prepare(const Arguments& arguments, std::size_t i, Rank to) {
  run::AnyPrepare what;
  what.least = size_argument(arguments, i, "least");
  what.most = size_argument(arguments, i + 1, "most");
  const auto given = [&](std::size_t at) { return arguments[at] != nullptr && arguments[at] != Py_None; };
  if (what.most < what.least) {
    throw UsageError(std::string(arguments.call) + ": least " + std::to_string(what.least) + " is more than most " +
                     std::to_string(what.most));
  }
  if (given(i + 2)) {
    const std::int64_t count = integer(arguments.call, "args", arguments[i + 2]);
    if (count < 0 || count > static_cast<std::int64_t>(conduit::kMaxArguments)) {
      throw UsageError(std::string(arguments.call) + ": args " + std::to_string(count) + "; allowed: 0 to " +
                       std::to_string(conduit::kMaxArguments));
    }
    what.arguments = static_cast<unsigned>(count);
  }
  if (given(i + 3)) {
    what.category = conduit::Category::long_message;
    const std::int64_t offset = integer(arguments.call, "offset", arguments[i + 3]);
    what.destination = arguments.endpoint.locate(arguments.call, index(to), offset, what.most);
  }
  return what;
}

class Prepare final : public Call {
 public:
  explicit Prepare(const Arguments& arguments) : flags_(arguments.flags) {
    to_ = arguments.endpoint.checked_rank(arguments.call, integer(arguments.call, "rank", arguments[0]));
    what_ = what_to_prepare(arguments, 1, to_);
  }
  void run(Endpoint& endpoint) override { message_ = endpoint.prepare(to_, what_, flags_); }
  PyObject* result(PyObject* self) override {
    return prepared_object(py::reinterpret_borrow<py::object>(self), std::move(message_), what_);
  }

 private:
  core::Flags flags_;
  Rank to_;
  run::AnyPrepare what_;
  std::unique_ptr<run::AnyPrepared> message_;
};

class PrepareReply final : public Call {
 public:
  explicit PrepareReply(const Arguments& arguments)
      : flags_(arguments.flags), token_(object_argument<Token>(arguments, 0, "token", "a Token")) {
    what_ = what_to_prepare(arguments, 1, Rank{token_.source()});
    (void)token_.live("prepare");
    if (arguments.endpoint.has_prepared()) {
      throw UsageError("prepare: a reply is prepared already; commit or cancel it first");
    }
  }
  void run(Endpoint&) override { message_ = token_.live("prepare").prepare(what_, flags_); }
  PyObject* result(PyObject* self) override {
    return prepared_object(py::reinterpret_borrow<py::object>(self), std::move(message_), what_);
  }

 private:
  core::Flags flags_;
  Token& token_;
  run::AnyPrepare what_;
  std::unique_ptr<run::AnyPrepared> message_;
};

class Commit final : public Call {
 public:
  explicit Commit(const Arguments& arguments)
      : flags_(arguments.flags),
        prepared_(object_argument<Prepared>(arguments, 0, "prepared", "what prepare returned")),
        kept_(py::reinterpret_borrow<py::object>(arguments[0])),
        words_(arguments.call, arguments.from(3)) {
    prepared_.check(arguments.call);
    message_ = prepared_.message(arguments.call, handler_index(arguments.call, arguments[1]),
                                 size_argument(arguments, 2, "n"), words_.get());
  }
  void run(Endpoint&) override { taken_ = prepared_.get().commit(message_, flags_) == Status::ok; }
  PyObject* result(PyObject*) override {
    if (taken_) prepared_.close();
    return outcome(core::is_immediate(flags_), taken_);
  }

 private:
  core::Flags flags_;
  Prepared& prepared_;
  py::object kept_;
  Words words_;
  core::Message message_;
  bool taken_ = false;
};

class Cancel final : public Call {
 public:
  explicit Cancel(const Arguments& arguments)
      : prepared_(object_argument<Prepared>(arguments, 0, "prepared", "what prepare returned")),
        kept_(py::reinterpret_borrow<py::object>(arguments[0])) {
    prepared_.check(arguments.call);
  }
  void run(Endpoint&) override { prepared_.get().cancel(); }
  PyObject* result(PyObject*) override {
    prepared_.close();
    return Py_NewRef(Py_None);
  }

 private:
  Prepared& prepared_;
  py::object kept_;
};

// Prepare a reply to a token, on a rank process.
PyObject* prepare_reply(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names);

// ---- the table

constexpr Parameter kLeast =
    integer_parameter("least", "Bytes of payload: the buffer holds between `least` and `most`.");
constexpr Parameter kMost = integer_parameter("most", "Bytes of payload, `least` or more.");
constexpr Parameter kWordCount = integer_parameter("args", "How many arguments the commit will have, 0 to 16.", "0");
constexpr Parameter kLongOffset{
    .name = "offset",
    .type = "int",
    .annotation = "SupportsIndex | None",
    .about =
        "Makes it a Long: where the payload goes, in bytes from the start of the target's segment. Else it is a "
        "Medium.",
    .value = "None"};
constexpr Parameter kBytes = integer_parameter("n", "Bytes of payload, 0 to `size`.");
constexpr Operation kPrepared[] = {
    {.name = "prepare",
     .parameters = kParameters<kTarget, kLeast, kMost, kWordCount, kLongOffset, kFlags>,
     .summary = "Prepare a message whose payload is written where the network sends from.",
     .result = {.type = "Prepared or None",
                .about = "to be committed or cancelled before anything else is called on this endpoint. None: refused.",
                .annotation = "Prepared",
                .wrapped = "ProgramPrepared"},
     .raises = "For a rank, size or number that is not allowed, or while another message is prepared.",
     .parse = &make_call<Prepare>},
    {.name = "commit",
     .object = Object::prepared,
     .parameters = kParameters<kHandler, kBytes, kWords, kFlags>,
     .summary = "Send the first bytes of the buffer; its memory is the network's from then on.\n\n"
                "As many arguments as prepare was told. Refused, the message is still prepared.",
     .result = kWhetherSent,
     .raises =
         "If it was committed or cancelled before, for values that are not allowed, or while a view of the buffer "
         "(a slice, another type, a memoryview) is still in use.",
     .parse = &make_call<Commit>},
    {.name = "cancel",
     .object = Object::prepared,
     .summary = "Send nothing and give back what prepare took.",
     .parse = &make_call<Cancel>},
    {.name = "token_prepare",
     .method = "prepare",
     .object = Object::token,
     .parameters = kParameters<kLeast, kMost, kWordCount, kLongOffset, kFlags>,
     .summary = "Prepare the reply to a request; it is committed or cancelled before the handler returns.",
     .result = {.type = "Prepared or None",
                .about = "None: refused (`gasmeter.IMMEDIATE` only).",
                .wrapped = "ProgramPrepared"},
     .raises = "As `reply`; in virtual time also in a handler that is no generator.",
     .parse = &make_call<PrepareReply>,
     .blocking = &prepare_reply},
};

PyObject* prepare_reply(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    auto& token = object_of<Token>(self);
    if (token.endpoint().is_virtual()) {
      throw UsageError(
          "prepare: in virtual time the handler has to be a generator: `prepared = yield token.prepare(...)`");
    }
    const Operation& operation = *find_operation("token_prepare");
    const Given given(operation, self, arguments, count, names);
    const std::unique_ptr<Call> call = parse_operation(operation, token.endpoint(), given.values(), given.flags());
    call->run(token.endpoint());
    return call->result(py::cast(&token.endpoint()).ptr());
  });
}

}  // namespace

std::span<const Entry> prepared_operations() {
  return entries_of<kPrepared>();
}

}  // namespace gasmeter::bindings

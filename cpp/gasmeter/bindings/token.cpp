#include "gasmeter/bindings/token.hpp"

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/operation_methods.hpp"
#include "gasmeter/bindings/operation_object.hpp"
#include "gasmeter/bindings/parameters.hpp"

namespace gasmeter::bindings {
namespace {

class Reply final : public Call {
 public:
  explicit Reply(const Arguments& arguments)
      : flags_(arguments.flags), token_(object_argument<Token>(arguments, 0, "token", "a Token")) {
    const char* const call = "reply";
    (void)token_.live(call);
    message_.handler = handler_index(call, arguments[1]);
    if (arguments[2] != nullptr) payload_ = Buffer(call, arguments[2], Access::read);
    message_.from = payload_.data();
    message_.bytes = payload_.size();
    message_.category = payload_.size() != 0 ? conduit::Category::medium : conduit::Category::short_message;
    words_ = Words(call, arguments.from(3));
    message_.arguments = words_.get();
  }
  void run(Endpoint&) override { taken_ = token_.live("reply").reply(message_, flags_) == Status::ok; }
  PyObject* result(PyObject*) override { return outcome(core::is_immediate(flags_), taken_); }

 private:
  core::Flags flags_;
  Token& token_;
  core::Message message_;
  Words words_;
  Buffer payload_;
  bool taken_ = false;
};

// A run of a handler, step by step. On a rank process all of it runs where it is called. On a virtual rank its Python
// code runs on the main stack and its operations on the fibre.
class HandlerRun {
 public:
  HandlerRun(Endpoint& endpoint, run::AnyToken& token) : endpoint_(endpoint), token_(token) {}
  HandlerRun(const HandlerRun&) = delete;
  HandlerRun& operator=(const HandlerRun&) = delete;
  ~HandlerRun() { forget(); }  // nothing may remain where the handler has ended

  // Run Python code until an operation is to be carried out, or to the end. Throws what the handler raises; no Python
  // object remains then.
  void step(const py::object& function) {
    const bool before = endpoint_.set_in_handler(true);
    struct Restore {
      Endpoint& endpoint;
      bool before;
      ~Restore() { endpoint.set_in_handler(before); }
    } restore{endpoint_, before};
    try {
      if (!object_) {
        begin(function);
      } else {
        go_on();
      }
    } catch (...) {
      forget();
      throw;
    }
  }
  [[nodiscard]] bool finished() const { return finished_; }
  // Carry out the operation, without Python.
  void carry_out() {
    if (call_ == nullptr) return;
    try {
      call_->run(endpoint_);
    } catch (const sim::Cancelled&) {
      throw;
    } catch (...) {
      error_ = std::current_exception();
    }
  }

 private:
  void begin(const py::object& function) {
    object_ = py::cast(std::make_unique<Token>(endpoint_, token_));
    py::object answer = function(object_);
    if (PyGen_Check(answer.ptr()) || PyCoro_CheckExact(answer.ptr())) {
      steps_ = std::move(answer);
      advance(py::none());
    } else {
      returned();
    }
  }
  void go_on() {
    if (!steps_) {  // the deferred reply has been sent
      if (error_) std::rethrow_exception(error_);
      forget();
      return;
    }
    if (error_) {
      const std::exception_ptr error = std::exchange(error_, nullptr);
      call_.reset();
      py::object object = exception_object(error, endpoint_);
      advance_with_error(object);
      return;
    }
    const std::unique_ptr<Call> call = std::move(call_);
    advance(py::reinterpret_steal<py::object>(call->result(py::cast(&endpoint_).ptr())));
  }
  void advance(const py::object& value) {
    PyObject* yielded = nullptr;
    const PySendResult what = PyIter_Send(steps_.ptr(), value.ptr(), &yielded);
    take(what, yielded);
  }
  void advance_with_error(const py::object& error) {
    PyObject* yielded = PyObject_CallMethodOneArg(steps_.ptr(), py::str("throw").ptr(), error.ptr());
    if (yielded != nullptr) {
      take(PYGEN_NEXT, yielded);
    } else if (PyErr_ExceptionMatches(PyExc_StopIteration)) {
      PyErr_Clear();  // a handler's return value is not used
      take(PYGEN_RETURN, Py_NewRef(Py_None));
    } else {
      throw py::error_already_set();
    }
  }
  void take(PySendResult what, PyObject* reference) {
    auto yielded = py::reinterpret_steal<py::object>(reference);
    if (what == PYGEN_ERROR) throw py::error_already_set();
    if (what == PYGEN_RETURN) {
      steps_ = py::object();
      returned();
      return;
    }
    try {
      call_ = parse_yielded(yielded.ptr(), endpoint_, true);
      return;
    } catch (...) {
      error_ = std::current_exception();
    }
    const std::exception_ptr error = std::exchange(error_, nullptr);
    advance_with_error(exception_object(error, endpoint_));
  }
  void returned() {
    auto& token = py::cast<Token&>(object_);
    token.end();
    endpoint_.check_nothing_open("the handler");
    call_ = token.take_put_off();
    if (call_ == nullptr) forget();
  }
  void forget() {
    if (object_) py::cast<Token&>(object_).kill();
    steps_ = py::object();
    object_ = py::object();
    call_.reset();
    error_ = nullptr;
    finished_ = true;
  }

  Endpoint& endpoint_;
  run::AnyToken& token_;
  py::object object_;  // the Token's object
  py::object steps_;   // iterator of a handler that is a generator
  std::unique_ptr<Call> call_;
  std::exception_ptr error_;
  bool finished_ = false;
};

}  // namespace

void PythonHandler::run(run::AnyToken& token) {
  auto run = std::make_unique<HandlerRun>(endpoint_, token);
  // A fibre that is cancelled meanwhile must not destroy Python objects.
  struct Keep {
    Endpoint& endpoint;
    std::unique_ptr<HandlerRun>& run;
    ~Keep() {
      if (run && !run->finished()) endpoint.keep(std::shared_ptr<HandlerRun>(std::move(run)));
    }
  } keep{endpoint_, run};
  // Messages that Python has dropped are cancelled before the token goes.
  struct Cancel {
    Endpoint& endpoint;
    ~Cancel() { endpoint.cancel_abandoned(); }
  } cancel_last{endpoint_};
  do {
    endpoint_.with_python([&] { run->step(function_); });
    endpoint_.cancel_abandoned();
    if (!run->finished()) run->carry_out();
  } while (!run->finished());
}

// ---- tokens

Token::Token(Endpoint& endpoint, run::AnyToken& token)
    : endpoint_(endpoint), token_(&token), source_(index(token.source())), is_request_(token.is_request()) {
  const std::span<const std::int32_t> words = token.arguments();
  py::tuple arguments(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = py::int_(words[i]);
  arguments_ = std::move(arguments);
}

run::AnyToken& Token::live(const char* call) {
  if (token_ == nullptr)
    throw UsageError(std::string(call) + ": the token's handler has returned; " + call + " inside it");
  return *token_;
}

py::bytes Token::payload() {
  if (!payload_) {
    const std::span<std::byte> bytes = live("payload").payload();
    payload_ = py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return payload_;
}

py::object Token::view(const py::object& self) {
  if (!view_) {
    (void)live("view");
    view_ = py::reinterpret_steal<py::object>(PyMemoryView_FromObject(self.ptr()));
    if (!view_) throw py::error_already_set();
  }
  return view_;
}

int Token::lend(PyObject* self, Py_buffer* view, int flags) noexcept {
  if (token_ == nullptr) {
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, "view: the token's handler has returned");
    return -1;
  }
  const std::span<std::byte> bytes = token_->payload();
  // An empty payload may have no address, but an empty array needs one.
  static char nothing = 0;
  void* const from = bytes.empty() ? static_cast<void*>(&nothing) : bytes.data();
  const int failed = PyBuffer_FillInfo(view, self, from, static_cast<Py_ssize_t>(bytes.size()), 1, flags);
  if (failed == 0) ++lent_;
  return failed;
}

PyObject* Token::reply(const Arguments& arguments) {
  run::AnyToken& token = live("reply");
  if (!endpoint_.is_virtual()) {
    Reply call(arguments);
    call.run(endpoint_);
    return call.result(nullptr);
  }
  if (!token.is_request()) throw UsageError("reply: a reply handler must not communicate");
  if (put_off_ != nullptr) throw UsageError("reply: a request is answered at most once");
  if (arguments.immediate()) {
    throw UsageError(
        "reply: in virtual time an immediate reply is known only later; make the handler a generator and write "
        "`yield token.reply(...)`");
  }
  put_off_ = std::make_unique<Reply>(arguments);
  return Py_NewRef(Py_None);
}

void Token::end() {
  if (view_) {
    if (PyObject* const done = PyObject_CallMethod(view_.ptr(), "release", nullptr); done != nullptr) {
      Py_DECREF(done);
    } else {
      PyErr_Clear();  // the view is in use, as counted here
    }
    view_ = py::object();
  }
  if (lent_ > 0) {
    kill();
    throw UsageError("handler: an array of token.view outlives it; copy what is to be kept (token.payload is a copy)");
  }
}

void Token::kill() noexcept {
  token_ = nullptr;
  if (!view_) return;
  const py::error_scope kept;
  Py_XDECREF(PyObject_CallMethod(view_.ptr(), "release", nullptr));
  PyErr_Clear();
  view_ = py::object();
}

namespace {

PyObject* reply(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names);

constexpr Operation kTokens[] = {
    {.name = "token_reply",
     .method = "reply",
     .object = Object::token,
     .parameters = kParameters<kHandler, kPayload, kWords, kFlags>,
     .summary = "Answer a request, at most once, from within its handler.\n\n"
                "`handler` runs at the requester. In virtual time flags are for handlers that are generators only.",
     .result = kWhetherSent,
     .raises = "For a second reply, a reply to a reply, outside the handler, or values that are not allowed.",
     .parse = &make_call<Reply>,
     .blocking = &reply},
};

PyObject* reply(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    auto& token = object_of<Token>(self);
    const Given given(kTokens[0], self, arguments, count, names);
    check_count(kTokens[0], given.values());
    return token.reply({"reply", token.endpoint(), given.values(), given.flags()});
  });
}

}  // namespace

std::span<const Entry> token_operations() {
  return entries_of<kTokens>();
}

}  // namespace gasmeter::bindings

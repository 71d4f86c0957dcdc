// Transfers, messages and waits as operations.
#include <cmath>
#include <cstring>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/call.hpp"
#include "gasmeter/bindings/event.hpp"
#include "gasmeter/bindings/fast_method.hpp"
#include "gasmeter/bindings/operation_methods.hpp"

namespace gasmeter::bindings {
namespace {

// ---- transfers

struct Place {
  Rank rank;
  std::byte* address;
};
Place place(const Arguments& arguments, Bytes bytes) {
  const std::int64_t rank = integer(arguments.call, "rank", arguments[0]);
  const std::int64_t offset = integer(arguments.call, "offset", arguments[1]);
  std::byte* const address = arguments.endpoint.locate(arguments.call, rank, offset, bytes);
  return {Rank{static_cast<std::uint32_t>(rank)}, address};
}

// Begins a put or get of a buffer or of a word.
class Transfer : public Call {
 public:
  Transfer(const Arguments& arguments, bool is_put) : flags_(arguments.flags), is_put_(is_put) {}

 protected:
  void take_buffer(const Arguments& arguments, PyObject* object, Access access) {
    buffer_ = Buffer(arguments.call, object, access);
    place_ = place(arguments, buffer_.size());
    memory_ = buffer_.data();
    bytes_ = buffer_.size();
  }
  // False: refused.
  bool start(Endpoint& endpoint) {
    event_ = is_put_ ? endpoint.any().put_nb(place_.rank, place_.address, memory_, bytes_, flags_)
                     : endpoint.any().get_nb(place_.rank, memory_, place_.address, bytes_, flags_);
    return !event_.is_no_op();
  }

  core::Flags flags_;
  bool is_put_;
  Place place_{};
  void* memory_ = nullptr;
  Bytes bytes_ = 0;
  core::Event event_;
  Buffer buffer_;
};

class Blocking : public Transfer {
 public:
  using Transfer::Transfer;
  void run(Endpoint& endpoint) override {
    taken_ = start(endpoint);
    if (taken_ && !event_.is_done()) endpoint.wait(event_);
  }
  PyObject* result(PyObject*) override { return outcome(core::is_immediate(flags_), taken_); }

 protected:
  bool taken_ = false;
};

class Put final : public Blocking {
 public:
  explicit Put(const Arguments& arguments) : Blocking(arguments, true) {
    take_buffer(arguments, arguments[2], Access::read);
  }
};

// Into memory of the caller, or into new bytes.
class Get final : public Blocking {
 public:
  explicit Get(const Arguments& arguments) : Blocking(arguments, false) {
    PyObject* const into = arguments[2];
    // NumPy's arrays can be indices and its integers are buffers, but only arrays are sequences.
    if (PyIndex_Check(into) == 0 || PySequence_Check(into) != 0) {
      take_buffer(arguments, into, Access::write);
      into_ = py::reinterpret_borrow<py::object>(into);
      return;
    }
    const std::int64_t size = integer(arguments.call, "into", into);
    if (size < 0) throw UsageError(std::string(arguments.call) + ": " + std::to_string(size) + " bytes; at least 0");
    bytes_ = static_cast<Bytes>(size);
    place_ = place(arguments, bytes_);  // before that much memory is allocated
    into_ = py::reinterpret_steal<py::object>(PyBytes_FromStringAndSize(nullptr, size));
    if (!into_) throw py::error_already_set();
    memory_ = PyBytes_AS_STRING(into_.ptr());
  }
  PyObject* result(PyObject*) override { return taken_ ? into_.release().ptr() : Py_NewRef(Py_None); }

 private:
  py::object into_;
};

class PutValue final : public Blocking {
 public:
  explicit PutValue(const Arguments& arguments)
      : Blocking(arguments, true), value_(integer(arguments.call, "value", arguments[2])) {
    place_ = place(arguments, sizeof value_);
    memory_ = &value_;
    bytes_ = sizeof value_;
  }

 private:
  std::int64_t value_;
};

class GetValue final : public Blocking {
 public:
  explicit GetValue(const Arguments& arguments) : Blocking(arguments, false) {
    place_ = place(arguments, sizeof value_);
    memory_ = &value_;
    bytes_ = sizeof value_;
  }
  PyObject* result(PyObject*) override { return taken_ ? PyLong_FromLongLong(value_) : Py_NewRef(Py_None); }

 private:
  std::int64_t value_ = 0;
};

class NonBlocking final : public Transfer {
 public:
  NonBlocking(const Arguments& arguments, bool is_put) : Transfer(arguments, is_put) {
    take_buffer(arguments, arguments[2], is_put ? Access::read : Access::write);
  }
  void run(Endpoint& endpoint) override { taken_ = start(endpoint); }
  PyObject* result(PyObject* self) override {
    if (!taken_) return Py_NewRef(Py_None);
    return py::cast(std::make_unique<Event>(py::reinterpret_borrow<py::object>(self), event_, std::move(buffer_)))
        .release()
        .ptr();
  }

 private:
  bool taken_ = false;
};

class Implicit final : public Transfer {
 public:
  Implicit(const Arguments& arguments, bool is_put) : Transfer(arguments, is_put), endpoint_(arguments.endpoint) {
    take_buffer(arguments, arguments[2], is_put ? Access::read : Access::write);
  }
  void run(Endpoint& endpoint) override {
    const Status status = is_put_ ? endpoint.any().put_nbi(place_.rank, place_.address, memory_, bytes_, flags_)
                                  : endpoint.any().get_nbi(place_.rank, memory_, place_.address, bytes_, flags_);
    taken_ = status == Status::ok;
  }
  PyObject* result(PyObject*) override {
    if (taken_) endpoint_.keep_implicit(std::move(buffer_));
    return outcome(core::is_immediate(flags_), taken_);
  }

 private:
  Endpoint& endpoint_;
  bool taken_ = false;
};

// ---- messages

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
  run::AnyMessage message_;
  Words words_;
  Buffer payload_;
  bool taken_ = false;
};

// ---- waiting

class Wait final : public Call {
 public:
  Wait(const Arguments& arguments, bool only_test)
      : event_(object_argument<Event>(arguments, 0, "event", "an Event")),
        kept_(py::reinterpret_borrow<py::object>(arguments[0])),
        only_test_(only_test) {
    if (&event_.endpoint() != &arguments.endpoint) {
      throw UsageError(std::string(arguments.call) + ": the event belongs to another rank");
    }
  }
  void run(Endpoint& endpoint) override {
    if (event_.get().is_done()) return;
    if (only_test_) {
      done_ = endpoint.test(event_.get());
    } else {
      endpoint.wait(event_.get());
    }
  }
  PyObject* result(PyObject*) override {
    if (done_) event_.finish();
    return only_test_ ? PyBool_FromLong(done_ ? 1 : 0) : Py_NewRef(Py_None);
  }

 private:
  Event& event_;
  py::object kept_;
  bool only_test_;
  bool done_ = true;
};

class WaitImplicit final : public Call {
 public:
  explicit WaitImplicit(const Arguments& arguments) : endpoint_(arguments.endpoint) {}
  void run(Endpoint& endpoint) override {
    endpoint.wait_for([&] { return endpoint.any().test_nbi(); });
  }
  PyObject* result(PyObject*) override {
    endpoint_.free_implicit();
    return Py_NewRef(Py_None);
  }

 private:
  Endpoint& endpoint_;
};

class Poll final : public Call {
 public:
  explicit Poll(const Arguments&) {}
  void run(Endpoint& endpoint) override { found_ = endpoint.any().poll(); }
  PyObject* result(PyObject*) override { return PyLong_FromUnsignedLong(found_); }

 private:
  unsigned found_ = 0;
};

class Barrier final : public Call {
 public:
  explicit Barrier(const Arguments&) {}
  void run(Endpoint& endpoint) override { endpoint.barrier(); }
  PyObject* result(PyObject*) override { return Py_NewRef(Py_None); }
};

class WaitUntil final : public Call {
 public:
  explicit WaitUntil(const Arguments& arguments) : predicate_(py::reinterpret_borrow<py::object>(arguments[0])) {
    if (PyCallable_Check(arguments[0]) == 0) {
      throw py::type_error(std::string(arguments.call) + ": predicate must be callable, not " +
                           Py_TYPE(arguments[0])->tp_name);
    }
  }
  void run(Endpoint& endpoint) override {
    endpoint.wait_for([&] {
      bool truth = false;
      endpoint.with_python([&] {
        const auto answer = py::reinterpret_steal<py::object>(PyObject_CallNoArgs(predicate_.ptr()));
        if (!answer) throw py::error_already_set();
        const int found = PyObject_IsTrue(answer.ptr());
        if (found < 0) throw py::error_already_set();
        truth = found != 0;
      });
      return truth;
    });
  }
  PyObject* result(PyObject*) override { return Py_NewRef(Py_None); }

 private:
  py::object predicate_;
};

class Sleep final : public Call {
 public:
  explicit Sleep(const Arguments& arguments) : ns_(PyFloat_AsDouble(arguments[0])) {
    if (ns_ == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (!(ns_ >= 0) || ns_ > kLongest) {
      throw UsageError("sleep: " + py::repr(arguments[0]).cast<std::string>() + " ns; allowed: 0 to 1e15");
    }
  }
  void run(Endpoint& endpoint) override { endpoint.sleep(ns_); }
  PyObject* result(PyObject*) override { return Py_NewRef(Py_None); }

 private:
  static constexpr double kLongest = 1e15;
  double ns_;
};

// ---- the tables

// `put` and its like have a quicker method on rank processes: no doc here.
constexpr OperationInfo kTransfers[] = {
    {"put",
     "(rank, offset, data, *, flags=0)",
     {"rank", "offset", "data"},
     3,
     3,
     true,
     false,
     false,
     &make_call<Put>,
     nullptr},
    {"get",
     "(rank, offset, into, *, flags=0)",
     {"rank", "offset", "into"},
     3,
     3,
     true,
     false,
     false,
     &make_call<Get>,
     nullptr},
    {"put_value",
     "(rank, offset, value, *, flags=0)",
     {"rank", "offset", "value"},
     3,
     3,
     true,
     false,
     false,
     &make_call<PutValue>,
     nullptr},
    {"get_value",
     "(rank, offset, *, flags=0)",
     {"rank", "offset"},
     2,
     2,
     true,
     false,
     false,
     &make_call<GetValue>,
     nullptr},
    {"put_nb",
     "(rank, offset, data, *, flags=0)",
     {"rank", "offset", "data"},
     3,
     3,
     true,
     false,
     false,
     &make_call<NonBlocking, true>,
     R"(put_nb($self, rank, offset, data, *, flags=0)
--

Begin a `put`.

Returns
-------
Event or None
    Complete when the data have arrived; do not change them before. None: refused (`gasmeter.IMMEDIATE` only).
)"},
    {"get_nb",
     "(rank, offset, into, *, flags=0)",
     {"rank", "offset", "into"},
     3,
     3,
     true,
     false,
     false,
     &make_call<NonBlocking, false>,
     R"(get_nb($self, rank, offset, into, *, flags=0)
--

Begin a `get` into memory.

Returns
-------
Event or None
    Complete when the data are there; do not touch `into` before. None: refused (`gasmeter.IMMEDIATE` only).
)"},
    {"put_nbi",
     "(rank, offset, data, *, flags=0)",
     {"rank", "offset", "data"},
     3,
     3,
     true,
     false,
     false,
     &make_call<Implicit, true>,
     R"(put_nbi($self, rank, offset, data, *, flags=0)
--

Begin a `put` that `wait_nbi` or the open access region waits for.

Returns
-------
bool or None
    With `gasmeter.IMMEDIATE` whether it was begun, else None.
)"},
    {"get_nbi",
     "(rank, offset, into, *, flags=0)",
     {"rank", "offset", "into"},
     3,
     3,
     true,
     false,
     false,
     &make_call<Implicit, false>,
     R"(get_nbi($self, rank, offset, into, *, flags=0)
--

Begin a `get` into memory that `wait_nbi` or the open access region waits for.

Returns
-------
bool or None
    With `gasmeter.IMMEDIATE` whether it was begun, else None.
)"},
};

constexpr OperationInfo kMessages[] = {
    {"request",
     "(rank, handler, payload=b'', *args, flags=0)",
     {"rank", "handler", "payload"},
     2,
     kAnyNumber,
     true,
     false,
     false,
     &make_call<Request, false>,
     R"(request($self, rank, handler, payload=b'', *args, flags=0)
--

Send an active message; its handler runs when the target polls.

Parameters
----------
rank : int
    Target.
handler : int
    Index that `register` returned.
payload : buffer
    Contiguous bytes, at most `max_medium`; none makes it a Short, else it is a Medium.
*args : int
    At most 16 whole numbers of 32 bits.
flags : int, default 0
    `gasmeter.IMMEDIATE`: be refused instead of waiting.

Returns
-------
bool or None
    With `gasmeter.IMMEDIATE` whether it was sent, else None.

Raises
------
gasmeter.UsageError
    For a rank, handler, size or argument that is not allowed, or in a handler.
)"},
    {"request_long",
     "(rank, handler, payload, offset, *args, flags=0)",
     {"rank", "handler", "payload", "offset"},
     4,
     kAnyNumber,
     true,
     false,
     false,
     &make_call<Request, true>,
     R"(request_long($self, rank, handler, payload, offset, *args, flags=0)
--

Send a Long: the payload is in the target's segment when its handler runs.

Parameters
----------
rank, handler, *args, flags
    As `request`.
payload : buffer
    Contiguous bytes, at most `max_long`.
offset : int
    Where they go in the target's segment, in bytes from its start.

Returns
-------
bool or None
    As `request`.
)"},
};

constexpr OperationInfo kWaiting[] = {
    {"wait", "(event)", {"event"}, 1, 1, false, false, false, &make_call<Wait, false>, R"(wait($self, event)
--

Poll until an event is complete.
)"},
    {"test", "(event)", {"event"}, 1, 1, false, false, false, &make_call<Wait, true>, R"(test($self, event)
--

Poll once and tell whether an event is complete.

Returns
-------
bool
    True from completion on.
)"},
    {"wait_nbi", "()", {}, 0, 0, false, false, false, &make_call<WaitImplicit>, R"(wait_nbi($self)
--

Poll until every `put_nbi`, `get_nbi` outside of access regions is complete.
)"},
    {"poll", "()", {}, 0, 0, false, false, false, &make_call<Poll>, R"(poll($self)
--

Run the handlers of messages that have arrived.

Returns
-------
int
    How many messages and completions were handled.
)"},
    {"barrier", "()", {}, 0, 0, false, false, false, &make_call<Barrier>, R"(barrier($self)
--

Poll until every rank has entered; Ctrl-C ends the wait.
)"},
    {"wait_until",
     "(predicate)",
     {"predicate"},
     1,
     1,
     false,
     false,
     false,
     &make_call<WaitUntil>,
     R"(wait_until($self, predicate)
--

Poll until ``predicate()`` is true; Ctrl-C ends the wait.

Parameters
----------
predicate : callable
    Without parameters; asked between polls.
)"},
    {"sleep", "(ns)", {"ns"}, 1, 1, false, false, false, &make_call<Sleep>, R"(sleep($self, ns)
--

Let time pass without polling: messages wait meanwhile.

Parameters
----------
ns : float
    Nanoseconds, 0 to 1e15; of virtual time on a modelled conduit.
)"},
};

}  // namespace

std::span<const OperationInfo> transfer_operations() {
  return kTransfers;
}
void add_transfer_methods(py::handle endpoint_type) {
  add_operation_methods<kTransfers>(endpoint_type);
}
std::span<const OperationInfo> message_operations() {
  return kMessages;
}
void add_message_methods(py::handle endpoint_type) {
  add_operation_methods<kMessages>(endpoint_type);
}
std::span<const OperationInfo> waiting_operations() {
  return kWaiting;
}
void add_waiting_methods(py::handle endpoint_type) {
  add_operation_methods<kWaiting>(endpoint_type);
}

}  // namespace gasmeter::bindings

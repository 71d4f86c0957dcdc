// Waits, polls and the barrier as operations.
#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/event.hpp"
#include "gasmeter/bindings/operation_methods.hpp"

namespace gasmeter::bindings {
namespace {

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
        const int is_true = PyObject_IsTrue(answer.ptr());
        if (is_true < 0) throw py::error_already_set();
        truth = is_true != 0;
      });
      return truth;
    });
  }
  PyObject* result(PyObject*) override { return Py_NewRef(Py_None); }

 private:
  py::object predicate_;
};

class PassTime final : public Call {
 public:
  PassTime(const Arguments& arguments, void (Endpoint::*how)(double ns))
      : how_(how), ns_(PyFloat_AsDouble(arguments[0])) {
    if (ns_ == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (!(ns_ >= 0) || ns_ > kLongest) {
      throw UsageError(std::string(arguments.call) + ": " + py::repr(arguments[0]).cast<std::string>() +
                       " ns; allowed: 0 to 1e15");
    }
  }
  void run(Endpoint& endpoint) override { (endpoint.*how_)(ns_); }
  PyObject* result(PyObject*) override { return Py_NewRef(Py_None); }

 private:
  static constexpr double kLongest = 1e15;
  void (Endpoint::*how_)(double ns);
  double ns_;
};

// ---- the table

constexpr Parameter kEvent{.name = "event",
                           .type = "Event",
                           .annotation = "Event",
                           .about = "What an operation with ``_nb`` returned or yielded, or of an access region."};
constexpr Parameter kPredicate{.name = "predicate",
                               .type = "callable",
                               .annotation = "Callable[[], object]",
                               .about = "Without parameters; asked between polls."};
constexpr Parameter kTime{.name = "ns",
                          .type = "float",
                          .annotation = "SupportsFloat",
                          .about = "Nanoseconds, 0 to 1e15; of virtual time on a modelled conduit."};

constexpr Operation kWaiting[] = {
    {.name = "wait",
     .parameters = kParameters<kEvent>,
     .summary = "Wait until an event is complete.",
     .parse = &make_call<Wait, false>},
    {.name = "test",
     .parameters = kParameters<kEvent>,
     .summary = "Poll once and tell whether an event is complete.",
     .result = {.type = "bool", .about = "True from completion on."},
     .parse = &make_call<Wait, true>},
    {.name = "wait_nbi",
     .summary = "Wait for every `put_nbi` and `get_nbi` outside of access regions.",
     .parse = &make_call<WaitImplicit>},
    {.name = "poll",
     .summary = "Run the handlers of messages that have arrived.",
     .result = {.type = "int", .about = "how many messages and completions were handled."},
     .parse = &make_call<Poll>},
    {.name = "barrier",
     .summary = "Wait until every rank has entered; Ctrl-C ends the wait.",
     .parse = &make_call<Barrier>},
    {.name = "wait_until",
     .parameters = kParameters<kPredicate>,
     .summary = "Poll until ``predicate()`` is true; Ctrl-C ends the wait.",
     .parse = &make_call<WaitUntil>},
    {.name = "sleep",
     .parameters = kParameters<kTime>,
     .summary = "Let time pass without polling: messages wait meanwhile.",
     .parse = &make_call<PassTime, &Endpoint::sleep>},
    {.name = "compute",
     .parameters = kParameters<kTime>,
     .summary = "Keep the core busy without polling; on a modelled conduit what interrupts it makes that longer.",
     .parse = &make_call<PassTime, &Endpoint::compute>},
};

}  // namespace

std::span<const Entry> waiting_operations() {
  return entries_of<kWaiting>();
}

}  // namespace gasmeter::bindings

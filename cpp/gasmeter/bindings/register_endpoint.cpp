#include "gasmeter/bindings/buffer.hpp"
#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/bindings/event.hpp"
#include "gasmeter/bindings/numpy.hpp"
#include "gasmeter/bindings/registration.hpp"
#include "gasmeter/bindings/strided.hpp"
#include "gasmeter/bindings/transfers.hpp"

namespace gasmeter::bindings {
namespace {

using namespace py::literals;
using Class = py::class_<Endpoint, std::shared_ptr<Endpoint>>;

// A handler may refer to the endpoint that holds it: Python's collector of cycles has to see that.
void see_handlers(PyHeapTypeObject* heap_type) {
  PyTypeObject& type = heap_type->ht_type;
  type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  type.tp_traverse = [](PyObject* self, visitproc visit, void* arg) -> int {
    Py_VISIT(Py_TYPE(self));
    if (!py::detail::is_holder_constructed(self)) return 0;
    return py::cast<Endpoint&>(py::handle(self)).visit_handlers(visit, arg);
  };
  type.tp_clear = [](PyObject* self) -> int {
    if (py::detail::is_holder_constructed(self)) py::cast<Endpoint&>(py::handle(self)).forget_handlers();
    return 0;
  };
}

void define_non_blocking(Class& type) {
  type.def(
          "put_nb",
          [](Endpoint& self, std::int64_t rank, std::int64_t offset, const py::object& data) {
            Buffer buffer("put_nb", data, Access::read);
            const core::Event event = self.start_put("put_nb", rank, offset, buffer.data(), buffer.size());
            return Event(self, event, std::move(buffer));
          },
          "rank"_a, "offset"_a, "data"_a, py::keep_alive<0, 1>(), R"(Begin a `put`.

Returns
-------
Event
    Complete when the data have arrived; do not change them before.
)")
      .def(
          "get_nb",
          [](Endpoint& self, std::int64_t rank, std::int64_t offset, const py::object& into) {
            Buffer buffer("get_nb", into, Access::write);
            const core::Event event = self.start_get("get_nb", rank, offset, buffer.data(), buffer.size());
            return Event(self, event, std::move(buffer));
          },
          "rank"_a, "offset"_a, "into"_a, py::keep_alive<0, 1>(), R"(Begin a `get` into memory.

Returns
-------
Event
    Complete when the data are there; do not touch `into` before.
)")
      .def("wait", [](Endpoint&, Event& event) { event.wait(); }, "event"_a, "Poll until an event is complete.");
}

void define_messages(Class& type) {
  type.def("register", &Endpoint::register_handler, "handler"_a, R"(Register a handler of active messages.

Parameters
----------
handler : callable
    ``handler(token)``, run by the rank that polls; see `Token`. It may reply, and store, but not communicate otherwise.

Returns
-------
int
    Index to send messages to: the same on every rank if all register the same handlers in the same order.

Notes
-----
Register before the first call that polls, or a quick rank's message finds nothing.
)")
      .def(
          "request",
          [](Endpoint& self, std::int64_t rank, std::int64_t handler, const py::object& payload,
             const py::args& arguments) {
            const Buffer buffer("request", payload, Access::read);
            self.request(rank, Message("request", handler, {buffer.data(), buffer.size()}, arguments));
          },
          "rank"_a, "handler"_a, "payload"_a = py::bytes(),
          R"(Send an active message; its handler runs when the target polls.

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

Raises
------
gasmeter.UsageError
    For a rank, handler, size or argument that is not allowed, or in a handler.
)")
      .def("poll", &Endpoint::poll, R"(Run the handlers of messages that have arrived.

Returns
-------
int
    How many messages and completions were handled.
)")
      .def("barrier", &Endpoint::barrier, "Poll until every rank has entered; Ctrl-C ends the wait.")
      .def("wait_until", &Endpoint::wait_until, "predicate"_a,
           R"(Poll until ``predicate()`` is true; Ctrl-C ends the wait.

Parameters
----------
predicate : callable
    Without parameters; asked between polls.
)");
}

}  // namespace

void register_endpoint(py::module_& module) {
  Class type(module, "Endpoint", py::custom_type_setup(&see_handlers),
             R"(A rank's access to all others: put, get, active messages, barrier.

Notes
-----
Made by `Rank.attach`. One thread at a time. Waiting calls poll and so run handlers.
)");
  type.def_property_readonly("rank", &Endpoint::rank, "This rank (int, 0 to size - 1).")
      .def_property_readonly("size", &Endpoint::size, "Number of ranks (int).")
      .def_property_readonly("max_medium", &Endpoint::max_medium, "Largest payload of a message in bytes (int).")
      .def_property_readonly(
          "segment",
          [](const py::object& self) {
            auto& endpoint = self.cast<Endpoint&>();
            return bytes_view(endpoint.segment_of(endpoint.rank()), self);
          },
          "This rank's own segment (writable array of uint8, a view; others put into it at any time).")
      .def(
          "segment_of",
          [](const py::object& self, std::int64_t rank) {
            return bytes_view(self.cast<Endpoint&>().segment_of(rank), self);
          },
          "rank"_a, R"(Return a neighbour's segment as memory of this process.

Parameters
----------
rank : int
    A rank of this node.

Returns
-------
numpy.ndarray of uint8
    A writable view: loads and stores go to the neighbour's memory directly.

Raises
------
gasmeter.UsageError
    If there is no such rank, or it is no neighbour.
)");
  add_transfers(type);
  define_non_blocking(type);
  define_messages(type);
  register_strided(module, type);
}

}  // namespace gasmeter::bindings

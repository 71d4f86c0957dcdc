#include "gasmeter/bindings/buffer.hpp"
#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/bindings/event.hpp"
#include "gasmeter/bindings/numpy.hpp"
#include "gasmeter/bindings/operation_methods.hpp"
#include "gasmeter/bindings/operation_object.hpp"
#include "gasmeter/bindings/registration.hpp"

namespace gasmeter::bindings {
namespace {

using namespace py::literals;
using Class = py::class_<Endpoint, std::shared_ptr<Endpoint>>;

// Show handlers to Python's collector of cycles, since a handler may refer to the endpoint that holds it.
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

// End a region; its event keeps the memory of the region's implicit operations.
py::object end_region(const py::object& self) {
  auto& endpoint = self.cast<Endpoint&>();
  const core::Event event = endpoint.end_region();
  return py::cast(std::make_unique<Event>(self, event, Buffer(), endpoint.take_region_buffers()));
}

PyObject* nothing(PyObject*, PyObject* const*, Py_ssize_t) {
  Py_RETURN_NONE;
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
  type.def_property_readonly("max_long", &Endpoint::max_long, "Largest payload of a Long in bytes (int).")
      .def_property_readonly("is_virtual", &Endpoint::is_virtual, "Whether time is virtual (bool).")
      .def_property_readonly("has_prepared", &Endpoint::has_prepared, "Whether a message is prepared (bool).")
      .def("now_ns", &Endpoint::now_ns, R"(Return the time: virtual, or this machine's monotonic clock.

Returns
-------
float
    Nanoseconds since some instant.
)")
      .def("register", &Endpoint::register_handler, "handler"_a, R"(Register a handler of active messages.

Parameters
----------
handler : callable
    ``handler(token)``, run by the rank that polls; see `Token`. It may reply, and store, but not communicate otherwise.
    A generator function yields its replies (``yield token.reply(...)``).

Returns
-------
int
    Index to send messages to: the same on every rank if all register the same handlers in the same order.

Notes
-----
Register before the first call that polls, or a quick rank's message finds nothing.
)")
      .def("begin_region", &Endpoint::begin_region,
           "Open an access region: implicit operations belong to it until `end_region`.")
      .def("end_region", &end_region, R"(Close the access region.

Returns
-------
Event
    Complete when every operation of the region is.
)")
      .def(
          "atomic_domain",
          [](const py::object& self, const py::object& dtype, const py::object& ops) {
            return py::module_::import("gasmeter.programs.atomics").attr("blocking_domain")(self, dtype, ops);
          },
          "dtype"_a, "ops"_a = py::tuple(), R"(Make an atomic domain; every rank makes the same ones in the same order.

Parameters
----------
dtype : str or numpy.dtype
    int32, uint32, int64, uint64, float32 or float64.
ops : sequence of str, default ()
    Names of its operations; none: all that the type has.

Returns
-------
gasmeter.programs.atomics.AtomicDomain
    Its operations block.
)")
      .def_property_readonly(
          "team",
          [](const py::object& self) {
            return py::module_::import("gasmeter.programs.teams").attr("blocking_team")(self);
          },
          "The team of all ranks (gasmeter.programs.teams.Team), whose collectives block.")
      .def(
          "_carry_out",
          [](const py::object& self, const py::object& yielded) {
            auto& endpoint = self.cast<Endpoint&>();
            return py::reinterpret_steal<py::object>(
                run_now(parse_yielded(yielded.ptr(), endpoint, false), endpoint, self.ptr()));
          },
          "operation"_a, "Carry out what a program has yielded.");
  add_operations(type, Object::endpoint);
  static PyMethodDef nothing_method = fast_method("nothing", &nothing, R"(nothing($self, /, *arguments)
--

Do nothing with any arguments: what a call from Python costs by itself.

Parameters
----------
*arguments : object
    Ignored.
)");
  add_fast_method(type, nothing_method);
}

}  // namespace gasmeter::bindings

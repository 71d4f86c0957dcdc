#include "gasmeter/bindings/operation_methods.hpp"
#include "gasmeter/bindings/prepared.hpp"
#include "gasmeter/bindings/registration.hpp"

namespace gasmeter::bindings {
void register_prepared(py::module_& module) {
  py::class_<Prepared> type(module, "Prepared", R"(A message whose payload is written where the network sends from.

Notes
-----
Made by `Endpoint.prepare` or `Token.prepare`. As a context manager it is cancelled at the end unless it was committed.
)");
  type.def_property_readonly("size", &Prepared::size, "Bytes of the buffer, between least and most (int).")
      .def_property_readonly("is_open", &Prepared::is_open, "Whether it is neither committed nor cancelled (bool).")
      .def_property_readonly("buffer", &Prepared::buffer, R"(The network's own memory (writable array of uint8).

It is empty once the message is committed or cancelled; asking for it then is a `gasmeter.UsageError`.)")
      .def("drop", &Prepared::drop, "Cancel it, unless it is committed or cancelled, before the next operation.")
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__", [](Prepared& self, const py::args&) { self.drop(); });
  add_operations(type, Object::prepared);
}

}  // namespace gasmeter::bindings

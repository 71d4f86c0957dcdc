#include "gasmeter/bindings/call.hpp"
#include "gasmeter/bindings/fast_method.hpp"
#include "gasmeter/bindings/prepared.hpp"
#include "gasmeter/bindings/registration.hpp"

namespace gasmeter::bindings {
namespace {

PyObject* commit(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    const OperationInfo& operation = *find_operation(py::str("commit").ptr());
    std::vector<PyObject*> values{self};
    values.insert(values.end(), arguments, arguments + count);
    const NamedArguments named = named_arguments(operation, values, arguments + count, names);
    return carry_out(operation, object_of<Prepared>(self).owner().ptr(), values, named.flags);
  });
}

PyMethodDef commit_method = keyword_method("commit", &commit, R"(commit($self, handler, n, *args, flags=0)
--

Send the first bytes of the buffer; its memory is the network's from then on.

Parameters
----------
handler : int
    Index that `Endpoint.register` returned.
n : int
    Bytes of payload, 0 to `size`.
*args : int
    As many whole numbers of 32 bits as `prepare` was told.
flags : int, default 0
    `gasmeter.IMMEDIATE`: be refused instead of waiting; the message is still prepared then.

Returns
-------
bool or None
    With `gasmeter.IMMEDIATE` whether it was sent, else None.

Raises
------
gasmeter.UsageError
    If it was committed or cancelled before, for values that are not allowed, or while a view of the buffer (a slice,
    another type, a memoryview) is still in use.
)");

py::object cancel(const py::object& self) {
  PyObject* const values[] = {self.ptr()};
  const OperationInfo& operation = *find_operation(py::str("cancel").ptr());
  return py::reinterpret_steal<py::object>(
      carry_out(operation, py::cast<Prepared&>(self).owner().ptr(), values, core::Flags::none));
}

}  // namespace

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
      .def("cancel", &cancel, "Send nothing and give back what prepare took.")
      .def("drop", &Prepared::drop, "Cancel it, unless it is committed or cancelled, before the next operation.")
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__", [](Prepared& self, const py::args&) { self.drop(); });
  add_fast_method(type, commit_method);
}

}  // namespace gasmeter::bindings

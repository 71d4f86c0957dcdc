#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/atomic_domain.hpp"
#include "gasmeter/bindings/call.hpp"
#include "gasmeter/bindings/event.hpp"
#include "gasmeter/bindings/operation_object.hpp"
#include "gasmeter/bindings/registration.hpp"

namespace gasmeter::bindings {

py::object Event::value() const {
  if (!event_.is_done()) throw UsageError("value: the operation is not complete; wait for its event first");
  if (!result_) throw UsageError("value: the operation returns none");
  return py::reinterpret_steal<py::object>(number_of(type_, *result_));
}

void register_event(py::module_& module) {
  const auto now = [](const char* name) {
    return [name](const py::object& self) {
      PyObject* const values[] = {self.ptr()};
      return py::reinterpret_steal<py::object>(
          carry_out(*find_operation(name), py::cast<Event&>(self).owner().ptr(), values, core::Flags::none));
    };
  };
  py::class_<Event>(module, "Event", R"(An operation under way.

Notes
-----
Keeps the operation's memory and endpoint alive. Wait for it, or test it until it is true: a program that is a generator
yields it (or ``ep.wait(event)``, ``ep.test(event)``), a coroutine awaits it.
)")
      .def("test", now("test"), R"(Poll once and tell whether the operation is complete; on a rank process only.

Returns
-------
bool
    True from completion on: a put has arrived, the data of a get are there.
)")
      .def("wait", now("wait"), "Poll until the operation is complete; on a rank process only.")
      .def_property_readonly("value", &Event::value,
                             R"(Result of a complete fetching atomic operation (int or float).

Raises
------
gasmeter.UsageError
    Before it is complete, or if the operation returns none.
)")
      .def(
          "__await__", [](const py::object& self) { return py::reinterpret_steal<py::object>(steps_of(self.ptr())); },
          "Wait for it: `await event` in a program that is a coroutine.");
}

}  // namespace gasmeter::bindings

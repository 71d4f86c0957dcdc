#include "gasmeter/bindings/event.hpp"
#include "gasmeter/bindings/registration.hpp"

namespace gasmeter::bindings {

void register_event(py::module_& module) {
  py::class_<Event>(module, "Event", R"(A put or get under way.

Notes
-----
Keeps the operation's memory and endpoint alive. Wait for it, or test it until it is true.
)")
      .def("test", &Event::test, R"(Poll once and tell whether the operation is complete.

Returns
-------
bool
    True from completion on: a put has arrived, the data of a get are there.
)")
      .def("wait", &Event::wait, "Poll until the operation is complete.");
}

}  // namespace gasmeter::bindings

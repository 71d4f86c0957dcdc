#include <pybind11/stl.h>

#include "gasmeter/bindings/atomic_domain.hpp"
#include "gasmeter/bindings/registration.hpp"

namespace gasmeter::bindings {

void register_atomic_domain(py::module_& module) {
  using namespace py::literals;
  py::class_<AtomicDomain>(module, "AtomicDomain", R"(What atomic operations on one type are done with.

Parameters
----------
endpoint : Endpoint
    The rank's.
dtype : str
    int32, uint32, int64, uint64, float32 or float64.
ops : sequence of str
    Names of operations; none: all that the type has.

Raises
------
gasmeter.UsageError
    For a type or operation that does not exist.
)")
      .def(py::init<py::object, const std::string&, const std::vector<std::string>&>(), "endpoint"_a, "dtype"_a,
           "ops"_a = std::vector<std::string>())
      .def_property_readonly("dtype", &AtomicDomain::type_name, "Name of the type (str).")
      .def_property_readonly("ops", &AtomicDomain::op_names, "Its operations (list of str).")
      .def_property_readonly(
          "path", &AtomicDomain::path,
          "Who does them (str): ``direct`` (this rank's processor), ``messages`` (the target's), ``direct+messages``, "
          "``network``, ``messages to all`` (this rank's own, too).");
}

}  // namespace gasmeter::bindings

#include "gasmeter/bindings/call.hpp"
#include "gasmeter/bindings/registration.hpp"
#include "gasmeter/bindings/team.hpp"

namespace gasmeter::bindings {
namespace {

// Call at once, for plain functions, whose calls block.
py::object call_now(const py::object& self, const py::args& arguments) {
  auto& team = self.cast<Team&>();
  const py::object endpoint = team.owner();
  const Operation* const operation = find_operation(py::cast<std::string_view>(arguments[0]));
  if (operation == nullptr) throw UsageError("team: no such call");
  std::vector<PyObject*> values{self.ptr()};
  for (std::size_t i = 1; i < arguments.size(); ++i) values.push_back(arguments[i].ptr());
  return py::reinterpret_steal<py::object>(carry_out(*operation, endpoint.ptr(), values, core::Flags::none));
}

}  // namespace

void register_team(py::module_& module) {
  using namespace py::literals;
  py::class_<Team>(module, "Team", R"(Ranks that do collectives among themselves; see `gasmeter.programs.teams.Team`.

Parameters
----------
endpoint : Endpoint
    The rank's: the team of all ranks.
)")
      .def(py::init([](py::object endpoint) { return std::make_unique<Team>(std::move(endpoint)); }), "endpoint"_a)
      .def_property_readonly("rank", &Team::rank, "This rank's number in the team (int, 0 to size - 1).")
      .def_property_readonly("size", &Team::size, "Number of ranks of the team (int).")
      .def("call", &call_now, R"(Carry out a collective call, blocking.

Parameters
----------
name : str
    ``team.barrier``, ``team.broadcast``, ``team.reduce``, ...
*arguments : object
    As the method of that name of `gasmeter.programs.teams.Team` takes them.

Returns
-------
object
    As that method.
)");
}

}  // namespace gasmeter::bindings

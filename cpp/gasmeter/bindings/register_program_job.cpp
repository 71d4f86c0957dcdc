#include <pybind11/stl.h>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/registration.hpp"
#include "gasmeter/bindings/virtual_ranks.hpp"

namespace gasmeter::bindings {
namespace {

std::unique_ptr<VirtualRanks> make_ranks(const std::string& conduit, std::uint32_t ranks, std::int64_t segment_bytes,
                                         std::uint64_t seed, const run::Measurement::Options& options,
                                         const run::Measurement::Machine& machine) {
  run::Request request = run::Request::for_program(conduit, seed, ranks, options);
  request.require_virtual_time();
  if (request.settings.options.contains("threads") && request.settings.integer("threads") != 1) {
    throw UsageError("option 'threads=" + request.settings.text("threads") +
                     "': Python programs take turns on one thread; allowed: 1");
  }
  if (segment_bytes < 0) throw UsageError("a segment of " + std::to_string(segment_bytes) + " bytes; at least 0");
  request.machine = machine;
  return std::make_unique<VirtualRanks>(request, static_cast<Bytes>(segment_bytes));
}

}  // namespace

void register_program_job(py::module_& module) {
  using namespace py::literals;
  py::class_<VirtualRanks>(module, "VirtualRanks", R"(The ranks of a job in virtual time, for programs in Python.

Parameters
----------
conduit : str
    A modelled conduit.
ranks : int
    How many, 1 or more.
segment_bytes : int
    Bytes of each rank's segment, zeroed.
seed : int
    Of every random stream.
options : dict of str to str
    Options of the conduit that differ from their defaults.
machine : dict of str to float or str
    Every number of the network's machine by key; see `ModelJob`.

Raises
------
gasmeter.UsageError
    For what this build cannot run.
)")
      .def(py::init(&make_ranks), py::kw_only(), "conduit"_a, "ranks"_a, "segment_bytes"_a, "seed"_a = 1,
           "options"_a = run::Measurement::Options(), "machine"_a = run::Measurement::Machine())
      .def("endpoint", &VirtualRanks::endpoint, "rank"_a,
           "Return the endpoint of a rank, on which operations are yielded.")
      .def("run", &VirtualRanks::run, "steps"_a, R"(Run a program on every rank, once.

Parameters
----------
steps : list of generator or coroutine
    By rank; they yield operations and are stepped on a thread of their own, one at a time.

Returns
-------
list
    What the programs returned, by rank.

Raises
------
gasmeter.Deadlock
    If every rank waits and nothing is under way; one line per waiting rank.
KeyboardInterrupt
    On Ctrl-C.
Exception
    What a program raised; see `failed_rank`.
)")
      .def("stop", &VirtualRanks::stop, "End the run that another thread has under way.")
      .def_property_readonly("failed_rank", &VirtualRanks::failed_rank, "Whose program has raised (int, -1: nobody's).")
      .def_property_readonly("ended_ns", &VirtualRanks::ended_ns,
                             "Virtual time at which the last program ended, in nanoseconds (float).");
}

}  // namespace gasmeter::bindings

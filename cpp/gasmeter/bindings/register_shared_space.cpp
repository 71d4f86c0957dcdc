#include <pybind11/stl.h>

#include "gasmeter/bindings/numpy.hpp"
#include "gasmeter/bindings/registration.hpp"
#include "gasmeter/bindings/shared_space.hpp"

namespace gasmeter::bindings {
namespace {

using namespace py::literals;

py::dict stats_of(SharedSpace& self) {
  const pgas::SpaceCounters& counts = self.any().counters();
  return py::dict("lookups"_a = counts.lookups, "hits"_a = counts.hits, "misses"_a = counts.misses(),
                  "evictions"_a = counts.evictions, "invalidations"_a = counts.invalidations,
                  "entries"_a = self.any().entries(), "pins"_a = self.any().pins(),
                  "remote_accesses"_a = counts.remote_accesses, "local_accesses"_a = counts.local_accesses);
}

// Return what another rank needs to name the array: its object in the space, and the layout of its elements.
py::tuple descriptor_of(const SharedArray& self) {
  const run::AnyArray& array = self.any();
  return py::make_tuple(array.object.partition, array.object.index, array.layout.elements(), array.layout.element(),
                        array.layout.block(), array.home);
}

SharedArray array_at(const py::object& space, const py::tuple& descriptor) {
  if (descriptor.size() != 6) throw UsageError("SharedArray: a descriptor has six numbers");
  const pgas::Layout layout(descriptor[2].cast<std::uint64_t>(), descriptor[3].cast<Bytes>(),
                            descriptor[4].cast<std::uint64_t>(), py::cast<SharedSpace&>(space).endpoint().size());
  return {space,
          {{descriptor[0].cast<std::uint32_t>(), descriptor[1].cast<std::uint32_t>()},
           layout,
           descriptor[5].cast<std::uint32_t>()}};
}

}  // namespace

void register_shared_space(py::module_& module) {
  py::class_<SharedSpace>(module, "SharedSpace",
                          "One rank's view of a shared space; see `gasmeter.programs.shared.SharedSpace`.")
      .def("stats", &stats_of, R"(Return what this rank's accesses came to.

Returns
-------
dict of str to int
    Counts since the space was made; ``entries`` and ``pins``: in use now.
)");
  py::class_<SharedArray>(module, "SharedArray",
                          R"(One rank's view of a shared array; see `gasmeter.programs.shared.SharedArray`.

Parameters
----------
space : SharedSpace
    That it is in.
descriptor : tuple of int
    From another rank's.
)")
      .def(py::init(&array_at), "space"_a, "descriptor"_a)
      .def_property_readonly("descriptor", &descriptor_of, "What names it at any rank (tuple of int).")
      .def(
          "owner",
          [](const SharedArray& self, std::int64_t i) {
            self.require("owner", i, 1);
            const run::AnyArray& array = self.any();
            return array.is_at_home() ? array.home : index(array.layout.owner(static_cast<std::uint64_t>(i)));
          },
          "i"_a, "Return the rank that has element `i` (int).")
      .def(
          "phase",
          [](const SharedArray& self, std::int64_t i) {
            self.require("phase", i, 1);
            const run::AnyArray& array = self.any();
            return array.is_at_home() ? static_cast<std::uint64_t>(i)
                                      : array.layout.phase(static_cast<std::uint64_t>(i));
          },
          "i"_a, "Return the place of element `i` in its block (int).")
      .def(
          "elements_of",
          [](const SharedArray& self, std::uint32_t rank) {
            const run::AnyArray& array = self.any();
            if (array.is_at_home()) return rank == array.home ? array.layout.elements() : std::uint64_t{0};
            return array.layout.count(Rank{rank});
          },
          "rank"_a, "Return how many elements a rank has (int).")
      .def(
          "local",
          [](const py::object& self) {
            auto& array = self.cast<SharedArray&>();
            return bytes_view(array.space().any().local(array.any()), self);
          },
          R"(Return this rank's part.

Returns
-------
numpy.ndarray of uint8
    A writable view.
)");
}

}  // namespace gasmeter::bindings

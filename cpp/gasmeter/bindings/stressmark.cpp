// A stressmark of DIS in a shared space of its own, as an operation, on which `gasmeter.stressmark` builds.
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <variant>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/operation_methods.hpp"
#include "gasmeter/bindings/parameters.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/shared_space.hpp"
#include "gasmeter/run/request.hpp"

namespace gasmeter::bindings {
namespace {

namespace dis = kernels::dis;

// ---- output of a run, as tuples of numbers

py::tuple tuple_of(const bench::dis::SubField& part) {
  return py::make_tuple(part.count, part.least, part.sum);
}

template <class Range, class Told>
py::tuple tuple_of(const Range& range, Told convert) {
  py::tuple all(range.size());
  for (std::size_t i = 0; i < range.size(); ++i) all[i] = convert(range[i]);
  return all;
}

struct ToldToPython {
  py::object operator()(std::monostate /*unused*/) const { return py::none(); }
  py::object operator()(const dis::PointerOutput& output) const {
    return tuple_of(output.chains, [](const dis::PointerOutput::Chain& chain) {
      return py::make_tuple(chain.rank, chain.end.hops, chain.end.index);
    });
  }
  py::object operator()(const dis::UpdateOutput& output) const {
    return py::make_tuple(output.end.hops, output.end.index, output.digest);
  }
  py::object operator()(const dis::NeighborhoodOutput& output) const {
    return tuple_of(output.pairs, [](const dis::NeighborhoodOutput::Pairs& pairs) {
      return py::make_tuple(pairs.distance, pairs.degrees, pairs.descriptors.entropy, pairs.descriptors.energy);
    });
  }
  py::object operator()(const dis::FieldOutput& output) const {
    return py::make_tuple(
        tuple_of(output.tokens,
                 [](const bench::dis::TokenResult& token) {
                   return py::make_tuple(
                       tuple_of(token.sub_fields, [](const bench::dis::SubField& part) { return tuple_of(part); }),
                       tuple_of(token.rest));
                 }),
        output.digest);
  }
};

// ---- the operation: (op, seed, length, options)

std::uint64_t seed_argument(const Arguments& arguments, std::size_t i) {
  const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(arguments[i]));
  if (!number) throw py::error_already_set();
  const unsigned long long seed = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw UsageError(std::string(arguments.call) + ": seed " + py::str(number).cast<std::string>() +
                     "; allowed: 0 to 18446744073709551615");
  }
  return seed;
}

class RunStressmark final : public Call {
 public:
  explicit RunStressmark(const Arguments& arguments) {
    const kernels::Registry registry = kernels::Registry::with_all_kernels();
    const kernels::Kernel& kernel = *registry.find("stressmark");
    settings_ = run::Request::settings_of(kernel, py::str(py::handle(arguments[0])).cast<std::string>(),
                                          seed_argument(arguments, 1), arguments.endpoint.size(),
                                          py::handle(arguments[3]).cast<run::Measurement::Options>());
    const std::int64_t length = integer(arguments.call, "length", arguments[2]);
    if (length < 1) throw UsageError("stressmark: length " + std::to_string(length) + "; at least 1");
    length_ = static_cast<std::uint64_t>(length);
    const Bytes needed = kernel.plan(settings_);
    const Bytes segment = arguments.endpoint.any().segment(Rank{0}).size;
    if (needed > segment) {
      throw UsageError("stressmark: shared arrays of " + std::to_string(needed) + " B at each rank in segments of " +
                       std::to_string(segment) + " B");
    }
  }
  void run(Endpoint& endpoint) override {
    output_ = endpoint.make_space(kernels::space_options_of(settings_)).stressmark(settings_, length_);
  }
  PyObject* result(PyObject* /*self*/) override { return std::visit(ToldToPython(), output_).release().ptr(); }

 private:
  bench::Settings settings_;
  std::uint64_t length_ = 0;
  dis::Output output_;
};

// ---- the table

constexpr Parameter kOp{
    .name = "op", .type = "str", .annotation = "str", .about = "pointer, update, neighborhood or field."};
constexpr Parameter kSeed = integer_parameter("seed", "Of the input.");
constexpr Parameter kLength = integer_parameter("length", "Hops, columns or tokens.");
constexpr Parameter kOptions{.name = "options",
                             .type = "dict of str to str",
                             .annotation = "dict[str, str]",
                             .about = "Of kernel stressmark; what is left out has its default."};

constexpr Operation kStressmarks[] = {
    {.name = "stressmark",
     .in_programs = false,
     .parameters = kParameters<kOp, kSeed, kLength, kOptions>,
     .summary = "Run a stressmark of DIS, with all other ranks; see `gasmeter.stressmark`.",
     .result = {.type = "tuple or None", .about = "what DIS has it tell, at rank 0.", .annotation = "Any"},
     .parse = &make_call<RunStressmark>},
};

}  // namespace

std::span<const Entry> stressmark_operations() {
  return entries_of<kStressmarks>();
}

}  // namespace gasmeter::bindings

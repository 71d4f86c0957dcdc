// The catalogue of this build, as plain dictionaries.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <span>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/version.hpp"
#include "gasmeter/bench/metrics.hpp"
#include "gasmeter/bindings/registration.hpp"
#include "gasmeter/conduit/count_infos.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/networks/registry.hpp"
#include "gasmeter/run/conduits.hpp"
#include "gasmeter/run/kernel_listing.hpp"
#include "gasmeter/sim/topology/topology.hpp"

namespace gasmeter::bindings {
namespace {

using namespace py::literals;

template <class Range, class Describe>
py::list list_of(const Range& range, Describe describe) {
  py::list list;
  for (const auto& item : range) list.append(describe(item));
  return list;
}

template <class T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::list names(const std::vector<std::string>& all) {
  return list_of(all, [](const std::string& name) { return py::str(name); });
}

py::dict describe_option(const bench::OptionInfo& option) {
  return py::dict("name"_a = option.name, "type"_a = option.type, "default"_a = option.default_value,
                  "unit"_a = option.unit, "choices"_a = names(option.choices), "summary"_a = option.summary,
                  "neutral"_a = option.neutral, "default_is_most"_a = option.default_is_most);
}

py::dict describe_op(const kernels::Registry& registry, const bench::OpInfo& op) {
  const auto describe_metric = [&](const bench::MetricInfo& metric) {
    return py::dict("name"_a = metric.name, "unit"_a = registry.metric(metric.name).unit,
                    "semantics"_a = metric.semantics, "in_memory"_a = metric.in_memory);
  };
  return py::dict("name"_a = op.name, "summary"_a = op.summary, "metrics"_a = list_of(op.metrics, describe_metric),
                  "sized"_a = op.sized);
}

py::dict describe_kernel(const kernels::Registry& registry, const kernels::Kernel& kernel) {
  const auto describe = [&](const bench::OpInfo& op) { return describe_op(registry, op); };
  const bench::KernelInfo& info = kernel.info;
  return py::dict("name"_a = info.name, "summary"_a = info.summary, "raw"_a = names(run::raw_networks(info.name)),
                  "variants"_a = names(info.variants), "ops"_a = list_of(info.ops, describe),
                  "options"_a = list_of(info.options, describe_option),
                  "measures_simulation"_a = kernel.measures_simulation);
}

py::dict describe_conduit(const run::ConduitInfo& conduit) {
  return py::dict("name"_a = conduit.name, "summary"_a = conduit.summary, "network"_a = conduit.network,
                  "kind"_a = conduit.modelled ? "modelled" : "measured",
                  "options"_a = list_of(conduit.options, describe_option));
}

py::dict describe_parameter(const networks::ParameterInfo& parameter) {
  return py::dict("key"_a = parameter.key, "kind"_a = parameter.kind, "summary"_a = parameter.summary,
                  "optional"_a = parameter.optional, "software"_a = parameter.software, "at_most"_a = parameter.at_most,
                  "below"_a = parameter.below);
}

py::dict describe_real(const networks::RealEntry& entry) {
  return py::dict("name"_a = entry.info.name, "summary"_a = entry.info.summary, "kind"_a = "measured",
                  "shares_memory"_a = entry.shares_memory, "spans_hosts"_a = entry.spans_hosts, "calls"_a = entry.calls,
                  "header_bytes"_a = 0, "parameters"_a = py::list());
}

py::dict describe_modelled(const networks::ModelledEntry& entry) {
  return py::dict("name"_a = entry.info.name, "summary"_a = entry.info.summary, "kind"_a = "modelled",
                  "shares_memory"_a = false, "spans_hosts"_a = false, "calls"_a = "", "header_bytes"_a = entry.header,
                  "parameters"_a = list_of(entry.parameters, describe_parameter));
}

py::list list_networks(const networks::Registry& registry) {
  py::list all = list_of(registry.real(), describe_real);
  for (const networks::ModelledEntry& entry : registry.modelled()) all.append(describe_modelled(entry));
  return all;
}

py::dict describe(const bench::Metric& metric) {
  return py::dict("name"_a = metric.name, "unit"_a = metric.unit, "better"_a = run::name_of(metric.better),
                  "label"_a = metric.label, "shown"_a = metric.shown, "scale"_a = metric.scale,
                  "modelled"_a = metric.modelled);
}

py::dict describe_count(const conduit::CountInfo& count) {
  return py::dict("name"_a = count.name, "summary"_a = count.summary, "unit"_a = count.unit);
}

py::dict catalogue() {
  const auto registry = kernels::Registry::with_all_kernels();
  const auto kernel = [&](const kernels::Kernel& one) { return describe_kernel(registry, one); };
  return py::dict(
      "kernels"_a = list_of(registry.kernels(), kernel), "conduits"_a = list_of(run::conduits(), describe_conduit),
      "networks"_a = list_networks(networks::Registry::all()), "metrics"_a = list_of(registry.metrics(), describe),
      "counters"_a = list_of(conduit::count_infos(), describe_count));
}

py::list topologies() {
  return list_of(sim::topology_kinds(), [](const sim::TopologyKind& kind) {
    std::string classes;
    for (const std::string& name : sim::Topology::parse(kind.example).link_classes()) {
      classes += (classes.empty() ? "" : ", ") + name;
    }
    return py::dict("name"_a = kind.name, "summary"_a = kind.summary, "example"_a = kind.example,
                    "link_classes"_a = classes);
  });
}

py::dict topology(const std::string& text) {
  const sim::Topology shape = sim::Topology::parse(text);
  py::list extents;
  for (const std::uint32_t extent : shape.extents()) extents.append(extent);
  const auto faulty = [](std::span<const sim::Topology::FaultyPort> ports) {
    return list_of(ports, [](const sim::Topology::FaultyPort& port) {
      return py::dict("vertex"_a = port.begin.vertex, "port"_a = port.begin.port, "to"_a = port.end,
                      "times"_a = port.slowness.thousandths / 1000.0);
    });
  };
  py::list port_names;
  for (std::uint32_t port = 0; port < shape.ports(0); ++port) port_names.append(shape.port_name(0, port));
  return py::dict("name"_a = shape.name(), "terminals"_a = shape.terminals(), "vertices"_a = shape.vertices(),
                  "extents"_a = extents, "ports"_a = port_names, "channels"_a = shape.channels(),
                  "mean_hops"_a = shape.mean_hops(), "bisection_links"_a = shape.bisection_links(),
                  "dead_links"_a = faulty(shape.dead_links()), "slow_links"_a = faulty(shape.slow_links()));
}

// Return ways one after the other, each as a run of links.
py::dict routes(const std::string& text, const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to) {
  const sim::Topology shape = sim::Topology::parse(text);
  if (from.size() != to.size())
    throw UsageError("routes: " + std::to_string(from.size()) + " begins for " + std::to_string(to.size()) + " ends");
  std::vector<std::uint32_t> first{0}, vertex, port, next;
  for (std::size_t way = 0; way < from.size(); ++way) {
    if (from[way] >= shape.terminals() || to[way] >= shape.terminals()) {
      throw UsageError("routes: from node " + std::to_string(from[way]) + " to " + std::to_string(to[way]) + "; " +
                       shape.name() + " has " + std::to_string(shape.terminals()));
    }
    if (from[way] != to[way]) {
      sim::Route route = shape.route(from[way], to[way]);
      for (std::uint32_t at = from[way]; at != to[way]; at = next.back()) {
        const sim::Hop hop = shape.next(at, to[way], route);
        vertex.push_back(at);
        port.push_back(hop.port);
        next.push_back(shape.neighbour(at, hop.port)->vertex);  // a way takes links that exist
      }
    }
    first.push_back(static_cast<std::uint32_t>(vertex.size()));
  }
  return py::dict("first"_a = array_of(first), "vertex"_a = array_of(vertex), "port"_a = array_of(port),
                  "to"_a = array_of(next));
}

py::dict build_info() {
  return py::dict("version"_a = kVersion, "compiler"_a = kCompiler, "build_type"_a = kBuildType,
                  "flags"_a = GASMETER_FLAGS, "sanitizers"_a = kSanitizers);
}

}  // namespace

void register_catalogue(py::module_& module) {
  module.def("catalogue", &catalogue,
             R"(Return what this build knows.

Returns
-------
dict
    ``kernels``: list of ``{name, summary, raw, variants, ops, options, measures_simulation}``, where ``raw`` lists the networks with a raw
    variant, an op is ``{name, summary, metrics, sized}`` whose first metric is the main one, and a metric is ``{name,
    unit, semantics, in_memory}``. ``conduits``: list of ``{name, summary, network, kind, options}`` with kind ``measured`` or
    ``modelled``. An option is ``{name, type, default, unit, choices, summary, neutral, default_is_most}``, the default as
    text, neutral if it never changes a result in virtual time; a job may lower a default that is the most. ``networks``: list of ``{name, summary, kind, shares_memory,
    spans_hosts, calls, header_bytes, parameters}``: whether ranks of a real one share all memory and may stand on
    several hosts, what it asks of the computer; of a modelled one bytes before each message on the wire where its
    machine does not say them, and what a machine is made of, each a ``{key, kind, summary}``. ``metrics``: list of
    ``{name, unit, better, label, shown, scale, modelled}`` with better ``smaller`` or ``bigger``, ``scale`` from the
    unit of rows to ``shown``, in which papers and other tools write it, and whether it is of the modelled machine where
    a kernel measures this computer, too. ``counters``: list of ``{name, summary, unit}``.
)");
  module.def("topologies", &topologies,
             R"(Return the families of topologies.

Returns
-------
list of dict
    ``name``, ``summary`` and ``example``, as text.
)");
  module.def("topology", &topology, "text"_a,
             R"(Describe one topology.

Parameters
----------
text : str
    Such as ``torus3d:8x8x8``.

Returns
-------
dict
    ``name``, ``terminals``, ``vertices`` (terminals and switches), ``extents`` (of grids, else empty; vertices count
    the first one fastest), ``ports`` (names of vertex 0's), ``channels``, ``mean_hops`` (uniform traffic, self
    included), ``bisection_links`` (one direction, without dead ones); ``dead_links`` and ``slow_links``, a dict for each
    direction: ``vertex`` and ``port`` where it begins, ``to``, the vertex where it ends, and how many ``times`` as long
    its bytes take (of dead ones 1).

Raises
------
gasmeter.UsageError
    If the text does not parse.
)");
  module.def("routes", &routes, "topology"_a, "sources"_a, "targets"_a,
             R"(Return the links that packets take.

Parameters
----------
topology : str
    Such as ``torus3d:8x8x8``.
sources, targets : sequence of int
    Nodes at the ends of each way.

Returns
-------
dict of str to numpy.ndarray
    One element per link of a way, way after way: ``vertex``, ``port`` and ``to`` (uint32). ``first`` (uint32): where
    each way begins, and where the last one ends.

Raises
------
gasmeter.UsageError
    If the text does not parse or a node does not exist.
)");
  module.def("build_info", &build_info,
             R"(Return how this extension was built.

Returns
-------
dict of str to str
    ``version``, ``compiler``, ``build_type``, ``flags``, ``sanitizers`` (empty if none).
)");
}

}  // namespace gasmeter::bindings

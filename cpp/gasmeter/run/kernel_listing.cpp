#include "gasmeter/run/kernel_listing.hpp"

#include "gasmeter/run/conduits.hpp"

namespace gasmeter::run {
namespace {

using launch::Fields;

void list_option(Fields& fields, const bench::OptionInfo& option) {
  fields.add("option", option.name)
      .add("option.type", option.type)
      .add("option.default", option.default_value)
      .add("option.unit", option.unit)
      .add("option.default_is_most", option.default_is_most ? "true" : "false")
      .add("option.summary", option.summary);
  for (const std::string& choice : option.choices) fields.add("option.choice", choice);
}

void list_op(Fields& fields, const kernels::Registry& registry, const bench::OpInfo& op) {
  fields.add("op", op.name).add("op.summary", op.summary).add("op.sized", op.sized ? "true" : "false");
  for (const bench::MetricInfo& metric : op.metrics) {
    const bench::Metric& shared = registry.metric(metric.name);
    fields.add("metric", metric.name)
        .add("metric.unit", shared.unit)
        .add("metric.semantics", metric.semantics)
        .add("metric.in_memory", metric.in_memory)
        .add("metric.better", name_of(shared.better))
        .add("metric.label", shared.label)
        .add("metric.shown", shared.shown)
        .add("metric.scale", launch::shortest(shared.scale));
  }
}

}  // namespace

Fields list_kernels(const kernels::Registry& registry) {
  Fields fields;
  for (const kernels::Kernel& kernel : registry.kernels()) {
    fields.add("kernel", kernel.info.name).add("summary", kernel.info.summary);
    fields.add("measures_simulation", kernel.measures_simulation ? "true" : "false");
    for (const std::string& variant : kernel.info.variants) fields.add("variant", variant);
    for (const std::string& network : raw_networks(kernel.info.name)) fields.add("raw", network);
    for (const bench::OptionInfo& option : kernel.info.options) list_option(fields, option);
    for (const bench::OpInfo& op : kernel.info.ops) list_op(fields, registry, op);
  }
  return fields;
}

}  // namespace gasmeter::run

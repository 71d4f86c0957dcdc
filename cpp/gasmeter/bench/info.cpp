#include "gasmeter/bench/info.hpp"

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/declared_once.hpp"
#include "gasmeter/bench/metrics.hpp"

namespace gasmeter::bench {

void check_options(const std::vector<OptionInfo>& options, const std::string& whose) {
  check_once(options, whose + ": option", &OptionInfo::name);
}

void check(const KernelInfo& info) {
  const std::string whose = "kernel " + info.name;
  for (const OpInfo& op : info.ops) {
    const std::string where = whose + ", op " + op.name + ": ";
    for (const MetricInfo& metric : op.metrics) {
      // Sources from before the table of metrics give the unit here.
      if (metric.semantics == find_metric(metric.name, where).unit) {
        throw UsageError(where + "metric '" + metric.name + "' says '" + metric.semantics +
                         "' where it should say what \"done\" meant; its unit is known");
      }
    }
  }
  check_options(info.options, whose);
}

}  // namespace gasmeter::bench

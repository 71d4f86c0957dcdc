// Every metric that a row may have: one table, from which kernels, rows, plots and formats of other tools take names,
// units and labels.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gasmeter::bench {

enum class Better : std::uint8_t { smaller, bigger };

struct Metric {
  const char* name;       // as in the column `metric`
  const char* unit;       // as in the column `unit`
  Better better;          // direction of better values
  const char* label;      // in words, for plots
  const char* shown;      // the unit in which papers and other tools write the metric
  double scale = 1.0;     // from `unit` to `shown`
  bool modelled = false;  // a metric of the modelled machine, also in kernels that measure this computer
};

[[nodiscard]] std::span<const Metric> metrics();

// Find a metric. Throws UsageError naming the known ones; `where` stands in front: "kernel flood: ".
[[nodiscard]] const Metric& find_metric(const std::string& name, const std::string& where = {});

}  // namespace gasmeter::bench

// Every metric that a row may have: one table, from which kernels, rows, plots and other tools' formats take what they
// say of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gasmeter::bench {

enum class Better : std::uint8_t { smaller, bigger };

struct Metric {
  const char* name;       // as in the column `metric`
  const char* unit;       // as in the column `unit`
  Better better;          // which way
  const char* label;      // in words, for plots
  const char* shown;      // the unit that papers and other tools write it in
  double scale = 1.0;     // from `unit` to that
  bool modelled = false;  // of the modelled machine, in kernels that measure this computer, too
};

[[nodiscard]] std::span<const Metric> metrics();

// Throws UsageError naming the known ones; `where` comes before: "kernel flood: ".
[[nodiscard]] const Metric& find_metric(const std::string& name, const std::string& where = {});

}  // namespace gasmeter::bench

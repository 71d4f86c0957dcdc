#include "gasmeter/bench/metrics.hpp"

#include <array>

#include "gasmeter/base/error.hpp"

namespace gasmeter::bench {

std::span<const Metric> metrics() {
  static constexpr std::array kMetrics = {
      Metric{"latency", "ns", Better::smaller, "Latency", "us", 1e-3},
      Metric{"round_trip", "ns", Better::smaller, "Round trip", "us", 1e-3},
      Metric{"train", "ns", Better::smaller, "Train", "ns"},
      Metric{"gap", "ns", Better::smaller, "Gap", "ns"},
      Metric{"send_overhead", "ns", Better::smaller, "Sender's overhead", "ns"},
      Metric{"receive_overhead", "ns", Better::smaller, "Receiver's overhead", "ns"},
      Metric{"bandwidth", "B/s", Better::bigger, "Bandwidth", "MB/s", 1e-6},
      Metric{"rate", "1/s", Better::bigger, "Rate", "1/s"},
      Metric{"gups", "GUP/s", Better::bigger, "Update rate", "GUP/s"},
      Metric{"steady_gups", "GUP/s", Better::bigger, "Steady update rate", "GUP/s"},
      Metric{"overhead", "ratio", Better::smaller, "Overhead", "ratio"},  // Python computes it, by comparison
      Metric{"error_fraction", "ratio", Better::smaller, "Wrong words", "ratio"},
      Metric{"memory_per_rank", "B", Better::smaller, "Memory per rank", "B"},
      Metric{"reserved_bytes", "B", Better::smaller, "Reserved memory per rank", "B", 1, true},
      Metric{"speedup", "ratio", Better::bigger, "Speedup", "ratio"},
  };
  return kMetrics;
}

const Metric& find_metric(const std::string& name, const std::string& where) {
  std::string names;
  for (const Metric& metric : metrics()) {
    if (name == metric.name) return metric;
    names += (names.empty() ? "" : ", ") + std::string(metric.name);
  }
  throw UsageError(where + "metric '" + name + "' is unknown; known: " + names);
}

}  // namespace gasmeter::bench

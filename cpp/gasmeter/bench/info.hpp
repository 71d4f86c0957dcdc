// What programs, metrics and options are called and what they mean, as catalogues list them.
#pragma once

#include <string>
#include <vector>

namespace gasmeter::bench {

struct MetricInfo {
  std::string name;            // latency, round_trip, bandwidth, rate, gups, overhead, error_fraction, speedup
  std::string unit;            // ns, B/s, 1/s, GUP/s, ratio
  std::string semantics;       // what "done" meant
  std::string in_memory = {};  // ... where memory that ranks share carries the operation; empty: the same
};

struct OpInfo {
  std::string name;
  std::string summary;
  std::vector<MetricInfo> metrics;  // the first is the main one
  bool sized = true;                // false: ignores the size; rows say 0
};

struct OptionInfo {
  std::string name;
  std::string type;  // bool, int, float, size, choice
  std::string default_value;
  std::string unit;
  std::vector<std::string> choices;
  std::string summary;
};

struct KernelInfo {
  std::string name;
  std::string summary;
  std::vector<OpInfo> ops;
  std::vector<std::string> variants;  // empty: the kernel has none; the first is the default
  std::vector<OptionInfo> options;
};

}  // namespace gasmeter::bench

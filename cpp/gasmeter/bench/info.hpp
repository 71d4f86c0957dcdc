// Names and meanings of programs, metrics and options, as catalogues list them.
#pragma once

#include <string>
#include <vector>

namespace gasmeter::bench {

// A metric of an op. Its unit, and all else that is the same for all ops, stand in the table of metrics.hpp.
struct MetricInfo {
  std::string name;            // a name of that table: latency, round_trip, bandwidth, rate, ...
  std::string semantics;       // meaning of "done"
  std::string in_memory = {};  // the same, where memory that ranks share carries the operation; empty: no difference
};

struct OpInfo {
  std::string name;
  std::string summary;
  std::vector<MetricInfo> metrics;  // the first is the main one
  bool sized = true;                // false: the op ignores the size; rows say 0
};

struct OptionInfo {
  std::string name;
  std::string type;  // bool, int, float, size, choice
  std::string default_value;
  std::string unit;
  std::vector<std::string> choices;
  std::string summary;
  bool neutral = false;  // true: the option never changes a result in virtual time
  // True: a job lowers the default, never a value that a client gave, to what its conduit and its ranks allow.
  bool default_is_most = false;
};

struct KernelInfo {
  std::string name;
  std::string summary;
  std::vector<OpInfo> ops;
  std::vector<std::string> variants;  // empty: no variants; the first is the default
  std::vector<OptionInfo> options;
};

// Throw UsageError for an option that is declared twice, and name both. `whose`: "kernel flood".
void check_options(const std::vector<OptionInfo>& options, const std::string& whose);

// Throw UsageError for an unknown metric and for an option that is declared twice. Also for a metric that gives its
// unit in place of what "done" meant.
void check(const KernelInfo& info);

}  // namespace gasmeter::bench

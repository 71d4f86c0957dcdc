// What programs, metrics and options are called and what they mean, as catalogues list them.
#pragma once

#include <string>
#include <vector>

namespace gasmeter::bench {

// A metric of an op. Its unit and what else is the same for all ops stand in the table of metrics.hpp.
struct MetricInfo {
  std::string name;            // one of that table: latency, round_trip, bandwidth, rate, ...
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
  bool neutral = false;  // true: it never changes a result in virtual time
  // True: a job lowers the default, never a value that a client gave, to what its conduit and its ranks allow.
  bool default_is_most = false;
};

struct KernelInfo {
  std::string name;
  std::string summary;
  std::vector<OpInfo> ops;
  std::vector<std::string> variants;  // empty: the kernel has none; the first is the default
  std::vector<OptionInfo> options;
};

// Throws UsageError for an option that is declared twice, and names both. `whose`: kernel flood.
void check_options(const std::vector<OptionInfo>& options, const std::string& whose);

// Throws UsageError for a metric that is unknown, or that says its unit where it should say what "done" meant, and for
// an option that is declared twice.
void check(const KernelInfo& info);

}  // namespace gasmeter::bench

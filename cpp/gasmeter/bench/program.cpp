#include "gasmeter/bench/program.hpp"

#include <limits>

namespace gasmeter::bench {

void BlockResult::add_time_per_operation(const std::string& metric) {
  metrics.emplace_back(metric, elapsed.ns() / static_cast<double>(operations));
}

void BlockResult::add_rate() {
  metrics.emplace_back("rate", per_second(static_cast<double>(operations)));
}

void BlockResult::add_bandwidth(Bytes bytes_per_operation) {
  payload = operations * bytes_per_operation;
  metrics.emplace_back("bandwidth",
                       per_second(static_cast<double>(operations) * static_cast<double>(bytes_per_operation)));
}

double BlockResult::per_second(double amount) const {
  return elapsed.ps == 0 ? std::numeric_limits<double>::quiet_NaN() : amount / elapsed.seconds();
}

}  // namespace gasmeter::bench

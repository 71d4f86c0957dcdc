#include "gasmeter/bench/program.hpp"

namespace gasmeter::bench {

void BlockResult::add_time_per_operation(const std::string& metric) {
  metrics.emplace_back(metric, elapsed.ns() / static_cast<double>(operations));
}

void BlockResult::add_rate() {
  metrics.emplace_back("rate", static_cast<double>(operations) / elapsed.seconds());
}

void BlockResult::add_bandwidth(Bytes bytes_per_operation) {
  payload = operations * bytes_per_operation;
  metrics.emplace_back("bandwidth",
                       static_cast<double>(operations) * static_cast<double>(bytes_per_operation) / elapsed.seconds());
}

}  // namespace gasmeter::bench

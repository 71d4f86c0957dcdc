#include "gasmeter/kernels/kernel.hpp"

#include <algorithm>
#include <charconv>

#include "gasmeter/base/error.hpp"

namespace gasmeter::kernels {

const std::string& Settings::text(const std::string& name) const {
  const auto found = options.find(name);
  if (found == options.end()) throw UsageError("option '" + name + "' has no value");
  return found->second;
}

bool Settings::flag(const std::string& name) const {
  const std::string& value = text(name);
  if (value == "true" || value == "on") return true;
  if (value == "false" || value == "off") return false;
  throw UsageError("option '" + name + "=" + value + "': allowed are true and false");
}

std::int64_t Settings::integer(const std::string& name) const {
  const std::string& value = text(name);
  std::int64_t result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc{} || end != value.data() + value.size()) {
    throw UsageError("option '" + name + "=" + value + "' is not a whole number");
  }
  return result;
}

double Settings::number(const std::string& name) const {
  const std::string& value = text(name);
  double result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc{} || end != value.data() + value.size()) {
    throw UsageError("option '" + name + "=" + value + "' is not a number");
  }
  return result;
}

void BlockResult::add_time_per_operation(const std::string& metric) {
  metrics.emplace_back(metric, elapsed.ns() / static_cast<double>(operations));
}

void BlockResult::add_rate() {
  metrics.emplace_back("rate", static_cast<double>(operations) / elapsed.seconds());
}

void BlockResult::add_bandwidth(Bytes bytes_per_operation) {
  metrics.emplace_back("bandwidth",
                       static_cast<double>(operations) * static_cast<double>(bytes_per_operation) / elapsed.seconds());
}

std::vector<std::string> Kernel::raw_networks() const {
  std::vector<std::string> found;
  if (make_raw_shm != nullptr) found.emplace_back("shm");
  if (make_raw_udp != nullptr) found.emplace_back("udp");
  if (make_raw_mpi != nullptr) found.emplace_back("mpi");
  if (make_raw_ideal != nullptr) found.emplace_back("ideal");
  if (make_raw_fabric != nullptr) found.emplace_back("fabric");
  if (make_raw_extoll != nullptr) found.emplace_back("extoll");
  if (make_raw_ibv != nullptr) found.emplace_back("ibv");
  if (make_raw_ethernet != nullptr) {
    found.emplace_back("ethernet");
    found.emplace_back("ipoib");
  }
  if (make_raw_two_sided != nullptr) {
    found.emplace_back("mpi@extoll");
    found.emplace_back("mpi@ibv");
  }
  return found;
}

void Registry::add(Kernel kernel) {
  if (find(kernel.info.name) != nullptr) throw UsageError("kernel '" + kernel.info.name + "' is registered already");
  const auto place = std::lower_bound(kernels_.begin(), kernels_.end(), kernel.info.name,
                                      [](const Kernel& k, const std::string& name) { return k.info.name < name; });
  kernels_.insert(place, std::move(kernel));
}

const Kernel* Registry::find(const std::string& name) const {
  for (const Kernel& kernel : kernels_) {
    if (kernel.info.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace gasmeter::kernels

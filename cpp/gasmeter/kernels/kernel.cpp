#include "gasmeter/kernels/kernel.hpp"

#include <algorithm>

#include "gasmeter/base/error.hpp"

namespace gasmeter::kernels {
namespace {

// Check the description without the kernel's own metrics, since bench knows only the metrics of its table.
void check_info(const Kernel& kernel) {
  bench::KernelInfo described = kernel.info;
  for (bench::OpInfo& op : described.ops) {
    std::erase_if(op.metrics, [&](const MetricInfo& metric) {
      return std::any_of(kernel.metrics.begin(), kernel.metrics.end(),
                         [&](const Metric& brought) { return metric.name == brought.name; });
    });
  }
  bench::check(described);
}

}  // namespace

void Registry::add(Kernel kernel) {
  check_info(kernel);
  if (find(kernel.info.name) != nullptr) throw UsageError("kernel '" + kernel.info.name + "' is registered already");
  for (const Metric& brought : kernel.metrics) {
    if (find_metric(brought.name) != nullptr) {
      throw UsageError("kernel " + kernel.info.name + ": metric '" + brought.name + "' is declared already");
    }
    metrics_.push_back(brought);
  }
  const auto place = std::lower_bound(kernels_.begin(), kernels_.end(), kernel.info.name,
                                      [](const Kernel& k, const std::string& name) { return k.info.name < name; });
  kernels_.insert(place, std::move(kernel));
}

const Metric& Registry::metric(const std::string& name) const {
  const Metric* const match = find_metric(name);
  return match != nullptr ? *match : bench::find_metric(name);  // throws with a list of known names
}

const Metric* Registry::find_metric(const std::string& name) const {
  const auto match = std::find_if(metrics_.begin(), metrics_.end(), [&](const Metric& m) { return name == m.name; });
  return match != metrics_.end() ? &*match : nullptr;
}

const Kernel* Registry::find(const std::string& name) const {
  for (const Kernel& kernel : kernels_) {
    if (kernel.info.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace gasmeter::kernels

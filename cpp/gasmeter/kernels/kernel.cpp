#include "gasmeter/kernels/kernel.hpp"

#include <algorithm>

#include "gasmeter/base/error.hpp"

namespace gasmeter::kernels {

void Registry::add(Kernel kernel) {
  bench::check(kernel.info);
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

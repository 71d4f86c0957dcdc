// A benchmark kernel: a description, a plan of the memory it needs, and one program per rank.
//
// A kernel is one file in this folder (its name plus .cpp) that defines `void register_<file name>(Registry&)`; CMake
// finds it. State is per rank: no statics, no thread_locals.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/info.hpp"
#include "gasmeter/bench/metrics.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/settings.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::kernels {

// Names of bench that kernels use.
using bench::Better;
using bench::BlockResult;
using bench::count_differences;
using bench::fill_pattern;
using bench::KernelInfo;
using bench::Maker;
using bench::Metric;
using bench::MetricInfo;
using bench::OpInfo;
using bench::OptionInfo;
using bench::Plan;
using bench::Program;
using bench::Settings;
using bench::Verification;

struct Kernel {
  KernelInfo info;
  Plan plan = nullptr;                                   // bytes of the segment
  Maker<core::Endpoint<RealHost>&> make_real = nullptr;  // null: runs in virtual time only, or on raw networks
  Maker<core::Endpoint<ThreadedHost>&> make_threaded = nullptr;
  Maker<core::Endpoint<StampedHost>&> make_stamped = nullptr;  // null: real ranks are not traced
  Maker<core::Endpoint<sim::ModelHost>&> make_model = nullptr;
  // The kernel measures the simulation itself. A block's time is CPU time of this computer; its metrics are `rate`,
  // operations per second of that time, and `memory_per_rank`, whatever its programs report.
  bool measures_simulation = false;
  // The kernel has the further metric `reserved_bytes` on conduits in virtual time.
  bool tells_reserved_memory = false;
  // Tells whether ranks of a node share memory, for a kernel with an option of its own for that. It replaces
  // `neighbourhood` where the conduit leaves that open.
  bool (*shares_nodes)(const Settings&) = nullptr;
  // Lowers defaults to what the number of ranks and a rank's largest segment allow.
  void (*lower_defaults)(Settings&, Bytes largest_segment) = nullptr;
  // Throws UsageError for values that the option types cannot refuse.
  void (*check)(const Settings&) = nullptr;
  // Metrics that the table of bench/metrics.cpp does not have.
  std::vector<Metric> metrics{};
};

// Make a kernel whose program is the template P<Host>.
template <template <class> class P>
Kernel kernel_of(KernelInfo info, Plan plan) {
  Kernel kernel;
  kernel.info = std::move(info);
  kernel.plan = plan;
  kernel.make_real = [](core::Endpoint<RealHost>& endpoint, const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<P<RealHost>>(endpoint, settings);
  };
  kernel.make_threaded = [](core::Endpoint<ThreadedHost>& endpoint,
                            const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<P<ThreadedHost>>(endpoint, settings);
  };
  kernel.make_stamped = [](core::Endpoint<StampedHost>& endpoint,
                           const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<P<StampedHost>>(endpoint, settings);
  };
  kernel.make_model = [](core::Endpoint<sim::ModelHost>& endpoint,
                         const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<P<sim::ModelHost>>(endpoint, settings);
  };
  return kernel;
}

class Registry {
 public:
  // Return a registry with the kernels of this folder.
  static Registry with_all_kernels();

  // Add a kernel. Throws UsageError for a taken name (of a kernel or of a metric that it brings), an unknown metric,
  // and an option that is declared twice.
  void add(Kernel kernel);
  [[nodiscard]] const Kernel* find(const std::string& name) const;
  [[nodiscard]] const std::vector<Kernel>& kernels() const { return kernels_; }  // sorted by name
  // Return every metric that a row may have: those of the table, then those that kernels bring.
  [[nodiscard]] const std::vector<Metric>& metrics() const { return metrics_; }
  // Return a metric of a registered kernel, by name. Throws UsageError.
  [[nodiscard]] const Metric& metric(const std::string& name) const;

 private:
  [[nodiscard]] const Metric* find_metric(const std::string& name) const;

  std::vector<Kernel> kernels_;
  std::vector<Metric> metrics_{bench::metrics().begin(), bench::metrics().end()};
};

}  // namespace gasmeter::kernels

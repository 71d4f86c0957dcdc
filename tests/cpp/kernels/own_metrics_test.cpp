// Metrics that a kernel brings beside those of the table.
#include <doctest/doctest.h>

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/run/kernel_listing.hpp"

namespace gasmeter::kernels::own_metrics_test {
namespace {

constexpr Metric kTurns{"turns", "1", Better::bigger, "Turns", "1"};

Kernel kernel(const std::string& name, const MetricInfo& metric, std::vector<Metric> own = {}) {
  Kernel made;
  made.info = {name, "", {{"turn", "", {metric}}}, {}, {}};
  made.metrics = std::move(own);
  return made;
}

std::string refusal(Registry& registry, const Kernel& made) {
  try {
    registry.add(made);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a_kernel_may_bring_a_metric_that_the_table_has_not") {
  Registry registry;
  CHECK(
      refusal(registry, kernel("spin", {"turns", "of a coil"})).starts_with("kernel spin, op turn: metric 'turns' is"));
  registry.add(kernel("spin", {"turns", "of a coil"}, {kTurns}));
  CHECK(std::string(registry.metric("turns").label) == "Turns");
  CHECK(registry.metrics().size() == bench::metrics().size() + 1);
  CHECK(registry.metric("latency").unit == std::string("ns"));
  CHECK_THROWS_AS((void)registry.metric("turn"), UsageError);
  CHECK(refusal(registry, kernel("wind", {"turns", "of a spring"})).find("'turns' is unknown") != std::string::npos);
  CHECK(run::list_kernels(registry).text().find("metric.better=bigger\nmetric.label=Turns\nmetric.shown=1\n") !=
        std::string::npos);
}

TEST_CASE("a_metric_has_one_meaning") {
  Registry registry;
  registry.add(kernel("spin", {"turns", "of a coil"}, {kTurns}));
  CHECK(refusal(registry, kernel("wind", {"turns", "of a spring"}, {kTurns})) ==
        "kernel wind: metric 'turns' is declared already");
  CHECK(registry.find("wind") == nullptr);
  CHECK(
      refusal(registry, kernel("wind", {"latency", "a turn"}, {{"latency", "ns", Better::smaller, "Latency", "ns"}})) ==
      "kernel wind: metric 'latency' is declared already");
}

}  // namespace
}  // namespace gasmeter::kernels::own_metrics_test

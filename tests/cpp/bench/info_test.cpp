#include "gasmeter/bench/info.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/metrics.hpp"
#include "gasmeter/conduit/count_infos.hpp"
#include "gasmeter/conduit/counts.hpp"

namespace gasmeter::bench::info_test {
namespace {

KernelInfo kernel(const MetricInfo& metric, std::vector<OptionInfo> options = {}) {
  return {"spin", "", {{"turn", "", {metric}}}, {}, std::move(options)};
}

std::string refusal(const KernelInfo& info) {
  try {
    check(info);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a_kernel_names_metrics_of_the_table") {
  CHECK(refusal(kernel({"latency", "one turn"})).empty());
  const std::string said = refusal(kernel({"lateness", "one turn"}));
  CHECK(said.starts_with("kernel spin, op turn: metric 'lateness' is unknown; known: latency, round_trip,"));
  CHECK(said.find('\n') == std::string::npos);
}

TEST_CASE("a_unit_in_the_place_of_what_done_meant_is_refused") {
  CHECK(refusal(kernel({"latency", "ns", "one turn"})) ==
        R"(kernel spin, op turn: metric 'latency' says 'ns' where it should say what "done" meant; its unit is known)");
}

TEST_CASE("an_option_of_a_kernel_that_is_declared_twice_is_refused") {
  const std::vector<OptionInfo> twice = {{"turns", "int", "1", "", {}, "of a coil"},
                                         {"turns", "int", "2", "", {}, "of ranks"}};
  CHECK(refusal(kernel({"latency", "one turn"}, twice)) ==
        R"(kernel spin: option 'turns' is declared twice: as "of a coil" and as "of ranks")");
}

TEST_CASE("every_metric_stands_once_in_the_table_and_its_scale_leads_to_the_unit_shown") {
  std::set<std::string> names;
  for (const Metric& metric : metrics()) {
    CAPTURE(metric.name);
    CHECK(names.insert(metric.name).second);
    CHECK((metric.scale == 1.0) == (std::string(metric.unit) == metric.shown));
    CHECK(&find_metric(metric.name) == &metric);
  }
}

TEST_CASE("every_counter_has_a_name_of_its_own_and_words") {
  std::set<std::string> names;
  REQUIRE(conduit::count_infos().size() == static_cast<std::size_t>(conduit::Count::count_));
  for (const conduit::CountInfo& count : conduit::count_infos()) {
    CAPTURE(count.name);
    CHECK(names.insert(count.name).second);
    CHECK_FALSE(std::string(count.summary).empty());
  }
  CHECK(conduit::name_of(conduit::Count::interrupts) == std::string("interrupts"));
}

}  // namespace
}  // namespace gasmeter::bench::info_test

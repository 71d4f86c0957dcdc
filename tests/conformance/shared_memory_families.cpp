// Conduits whose ranks share all memory: they consist of core's neighbourhood, whatever their name.
#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>

#include "cases.hpp"
#include "gasmeter/run/conduits.hpp"
#include "suite.hpp"
#include "thread_job.hpp"

namespace gasmeter::conformance {
namespace {

template <class H>
Runs over_memory(std::initializer_list<std::uint32_t> rank_counts, Mapping mapping, const Cases<H>& cases,
                 const core::Forms& forms = {}) {
  Runs runs;
  for (const std::uint32_t ranks : rank_counts) {
    add_runs(runs, std::to_string(ranks) + " ranks", std::make_shared<ThreadJob<H>>(ranks, mapping, forms), cases);
  }
  return runs;
}

Runs one_mapping() {
  return over_memory<RealHost>({2, 3, 4, 8}, Mapping::one, all_cases<RealHost>());
}

// The race detector takes different mappings for different memory.
Runs mapping_each() {
  if (!testing::kSeesThroughMappings) return {};
  return over_memory<RealHost>({2, 3}, Mapping::each, all_cases<RealHost>());
}

Runs reference_forms() {
  return over_memory<RealHost>({2, 4}, Mapping::one, cases_without_refusals<RealHost>(), kAllByMessages);
}

Runs several_threads() {
  Runs runs = over_memory<ThreadedHost>({2, 3}, Mapping::one, all_cases<ThreadedHost>());
  for (Run& run : over_memory<ThreadedHost>({1, 2, 3}, Mapping::one, thread_cases())) runs.push_back(std::move(run));
  for (Run& run : over_memory<ThreadedHost>({2}, Mapping::one, thread_cases(), kAllByMessages)) {
    run.job += ", reference forms";
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

void add_shared_memory(Suite& suite) {
  for (const run::ConduitInfo& conduit : run::conduits()) {
    if (conduit.real == nullptr || !conduit.real->shares_memory || conduit.raw) continue;
    suite.add({.name = conduit.name, .conduit = conduit.name, .all_runs = &one_mapping});
    suite.add({.name = conduit.name + "-reference", .conduit = conduit.name, .all_runs = &reference_forms});
    suite.add({.name = conduit.name + "-mapped", .conduit = conduit.name, .all_runs = &mapping_each});
    const auto is_threads = [](const bench::OptionInfo& option) { return option.name == "threads"; };
    if (std::any_of(conduit.options.begin(), conduit.options.end(), is_threads)) {
      suite.add({.name = "threads", .conduit = conduit.name, .all_runs = &several_threads});
    }
  }
}

}  // namespace gasmeter::conformance

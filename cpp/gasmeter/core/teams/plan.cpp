#include "gasmeter/core/teams/plan.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/core/teams/algorithms.hpp"

namespace gasmeter::core::teams {
namespace {

struct Entry {
  Algorithm algorithm;
  const Rules* rules;
};

const std::vector<Entry>& entries_of(Collective collective) {
  static const std::array<std::vector<Entry>, 8> table{{
      {{Algorithm::dissemination, &barrier::dissemination}, {Algorithm::hierarchical, &barrier::hierarchical}},
      {{Algorithm::binomial, &broadcast::binomial}, {Algorithm::scatter_ring, &broadcast::scatter_ring}},
      {{Algorithm::binomial, &reduce::binomial}, {Algorithm::ring, &reduce::ring}},
      {{Algorithm::recursive_doubling, &reduce_all::recursive_doubling},
       {Algorithm::hierarchical, &reduce_all::hierarchical},
       {Algorithm::ring, &reduce_all::ring}},
      {{Algorithm::pairwise, &exchange::pairwise}, {Algorithm::bruck, &exchange::bruck}},
      {{Algorithm::binomial, &gather::binomial}, {Algorithm::linear, &gather::linear}},
      {{Algorithm::dissemination, &gather_all::dissemination}, {Algorithm::ring, &gather_all::ring}},
      {{Algorithm::recursive_doubling, &scan::recursive_doubling}, {Algorithm::chain, &scan::chain}},
  }};
  return table.at(static_cast<std::size_t>(collective));
}

constexpr std::array kCollectiveNames{"barrier",  "broadcast", "reduce",     "reduce-all",
                                      "exchange", "gather",    "gather-all", "scan"};
constexpr std::array kAlgorithmNames{"auto", "dissemination",      "hierarchical", "binomial", "scatter-ring",
                                     "ring", "recursive-doubling", "pairwise",     "bruck",    "linear",
                                     "chain"};

}  // namespace

const char* name_of(Collective collective) {
  return kCollectiveNames.at(static_cast<std::size_t>(collective));
}

const char* name_of(Algorithm algorithm) {
  return kAlgorithmNames.at(static_cast<std::size_t>(algorithm));
}

Algorithm algorithm_named(const std::string& name) {
  std::string names;
  for (std::size_t i = 0; i < kAlgorithmNames.size(); ++i) {
    if (name == kAlgorithmNames[i]) return static_cast<Algorithm>(i);
    names += (i == 0 ? "" : ", ") + std::string(kAlgorithmNames[i]);
  }
  throw UsageError("no algorithm '" + name + "'; there are " + names);
}

const std::vector<Algorithm>& algorithms_of(Collective collective) {
  static const auto lists = [] {
    std::array<std::vector<Algorithm>, kCollectiveNames.size()> result;
    for (std::size_t i = 0; i < result.size(); ++i) {
      for (const Entry& entry : entries_of(static_cast<Collective>(i))) result[i].push_back(entry.algorithm);
    }
    return result;
  }();
  return lists.at(static_cast<std::size_t>(collective));
}

std::uint32_t Nodes::position_of(std::uint32_t leader) const {
  if (leaders.empty()) return leader / stride;
  return static_cast<std::uint32_t>(std::lower_bound(leaders.begin(), leaders.end(), leader) - leaders.begin());
}

bool is_rooted(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::reduce || collective == Collective::gather;
}

bool reduces(Collective collective) {
  return collective == Collective::reduce || collective == Collective::reduce_all || collective == Collective::scan;
}

const Rules& rules_of(Collective collective, Algorithm algorithm) {
  for (const Entry& entry : entries_of(collective)) {
    if (entry.algorithm == algorithm) return *entry.rules;
  }
  std::string names;
  for (const Entry& entry : entries_of(collective)) {
    names += (names.empty() ? "" : ", ") + std::string(name_of(entry.algorithm));
  }
  throw UsageError(std::string(name_of(collective)) + ": no algorithm " + name_of(algorithm) + "; it has " + names);
}

bool fill_round(const Call& call, std::uint32_t round, Steps& steps) {
  steps.clear();
  return rules_of(call.collective, call.algorithm).fill(call, round, steps);
}

Bytes temporary_bytes(const Call& call) {
  return rules_of(call.collective, call.algorithm).temporary(call);
}

Algorithm cheapest(Collective collective, const Shape& shape) {
  const std::vector<Entry>& entries = entries_of(collective);
  const Entry* best = &entries.front();
  for (const Entry& entry : entries) {
    if (entry.rules->cost(shape) < best->rules->cost(shape)) best = &entry;
  }
  return best->algorithm;
}

}  // namespace gasmeter::core::teams

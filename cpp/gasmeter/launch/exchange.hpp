// Steps that all ranks of a job take together and that must fail on all of them or on none.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gasmeter/launch/rank_link.hpp"

namespace gasmeter::launch {

// Run `prepare` on every rank, then return the results of all, in rank order. Collective. If it threw on this rank,
// throws the same; if it threw on another rank, throws an error of the same class that names the rank and its reason.
[[nodiscard]] std::vector<std::string> exchange_or_fail(RankLink& link, const std::function<std::string()>& prepare);

}  // namespace gasmeter::launch

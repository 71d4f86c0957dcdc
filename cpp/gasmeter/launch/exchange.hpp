// Steps that all ranks of a job take together and that must fail on all of them or on none.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gasmeter/launch/rank_link.hpp"

namespace gasmeter::launch {

// Runs `prepare` on every rank, then hands what it returned to all, in rank order. Collective. If it threw on this
// rank, throws that; if it threw on another, one of the same class that names the rank and its reason.
[[nodiscard]] std::vector<std::string> exchange_or_fail(RankLink& link, const std::function<std::string()>& prepare);

}  // namespace gasmeter::launch

// A page that all ranks of a job share, if all stand on one host: for words that no network shall carry.
#pragma once

#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/launch/shared_mapping.hpp"

namespace gasmeter::launch {

// Zeros behind its first kPageHead bytes, however the ranks were started. Collective. Where one rank cannot map it (it
// stands on another host, or in another container), all of them get an empty mapping.
inline constexpr Bytes kPageHead = 128;
inline constexpr Bytes kPageBytes = 4096;
[[nodiscard]] SharedMapping share_page(RankLink& link);

}  // namespace gasmeter::launch

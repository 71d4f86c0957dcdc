// A page that all ranks of a job share, if all run on one host: for words that no network shall carry.
#pragma once

#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/launch/shared_mapping.hpp"

namespace gasmeter::launch {

// Share the page, however the ranks were started; it holds zeros behind its first kPageHead bytes. Collective. If a
// rank cannot map it (on another host, or in another container), all ranks get an empty mapping.
inline constexpr Bytes kPageHead = 128;
inline constexpr Bytes kPageBytes = 4096;
[[nodiscard]] SharedMapping share_page(RankLink& link);

}  // namespace gasmeter::launch

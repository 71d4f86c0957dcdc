// Name, meaning and unit of each counter, as catalogues list them.
#pragma once

#include <span>

namespace gasmeter::conduit {

struct CountInfo {
  const char* name;  // the name in the column `counter`
  const char* summary;
  const char* unit;  // 1, B or ns
};

// Return the counters in the order of Count.
[[nodiscard]] std::span<const CountInfo> count_infos();

}  // namespace gasmeter::conduit

// What each counter is called and counts, as catalogues list it.
#pragma once

#include <span>

namespace gasmeter::conduit {

struct CountInfo {
  const char* name;  // as in the column `counter`
  const char* summary;
  const char* unit;  // 1, B or ns
};

// In the order of Count.
[[nodiscard]] std::span<const CountInfo> count_infos();

}  // namespace gasmeter::conduit

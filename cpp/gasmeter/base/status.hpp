// Outcomes that a caller must expect.
#pragma once

#include <cstdint>

namespace gasmeter {

// no_resource: nothing was taken, changed or polled; the same call may succeed later.
enum class [[nodiscard]] Status : std::uint8_t { ok, no_resource, unsupported };

}  // namespace gasmeter

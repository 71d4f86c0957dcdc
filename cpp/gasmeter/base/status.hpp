// Outcomes that a caller has to expect.
#pragma once

#include <cstdint>

namespace gasmeter {

// no_resource: nothing taken, nothing changed, nothing polled; the same call may succeed later.
enum class [[nodiscard]] Status : std::uint8_t { ok, no_resource, unsupported };

}  // namespace gasmeter

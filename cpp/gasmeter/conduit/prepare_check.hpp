// Checks at the beginning of every conduit's prepare().
#pragma once

#include <algorithm>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"

namespace gasmeter::conduit {

// Return the largest payload of a message of this category and direction. A Short has none.
[[nodiscard]] constexpr Bytes largest_payload(const Capabilities& can, const AmHeader& header) {
  if (header.category == Category::short_message) return 0;
  if (header.category == Category::medium) return can.most_medium(header.is_reply, header.arguments);
  return header.is_reply ? can.max_reply_long : can.max_request_long;
}

[[noreturn]] void refuse_prepare(const char* conduit, const AmHeader& header, Bytes least, Bytes most, Bytes largest);

// Return the payload bytes of a message that is prepared for `least` to `most`: as many as fit, at least `least`.
// Throw UsageError, which begins with the conduit's name, if `least` bytes or the number of arguments do not fit.
[[nodiscard]] GASMETER_INLINE Bytes check_prepare(const char* conduit, const Capabilities& can, const AmHeader& header,
                                                  Bytes least, Bytes most) {
  const Bytes largest = largest_payload(can, header);
  if (GASMETER_UNLIKELY(least > largest || least > most || header.arguments > kMaxArguments)) {
    refuse_prepare(conduit, header, least, most, largest);
  }
  return std::min(most, largest);
}

}  // namespace gasmeter::conduit

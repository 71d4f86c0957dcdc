// What every conduit's prepare() begins with.
#pragma once

#include <algorithm>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"

namespace gasmeter::conduit {

// Largest payload of a message of this category, in this direction; a Short has none.
[[nodiscard]] constexpr Bytes largest_payload(const Capabilities& can, const AmHeader& header) {
  if (header.category == Category::short_message) return 0;
  if (header.category == Category::medium) return can.most_medium(header.is_reply, header.arguments);
  return header.is_reply ? can.max_reply_long : can.max_request_long;
}

[[noreturn]] void refuse_prepare(const char* conduit, const AmHeader& header, Bytes least, Bytes most, Bytes largest);

// How many bytes of payload a message may have that is prepared for `least` to `most`: as many as fit, at least
// `least`. Throws UsageError, which begins with the conduit's name, where not even those fit, or not so many arguments.
[[nodiscard]] GASMETER_INLINE Bytes check_prepare(const char* conduit, const Capabilities& can, const AmHeader& header,
                                                  Bytes least, Bytes most) {
  const Bytes largest = largest_payload(can, header);
  if (GASMETER_UNLIKELY(least > largest || least > most || header.arguments > kMaxArguments)) {
    refuse_prepare(conduit, header, least, most, largest);
  }
  return std::min(most, largest);
}

}  // namespace gasmeter::conduit

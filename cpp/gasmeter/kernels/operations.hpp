// The check of a payload's size that kernels of messages share.
#pragma once

#include <algorithm>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/settings.hpp"
#include "gasmeter/core/endpoint.hpp"

namespace gasmeter::kernels {

// Throw UsageError for a payload that is too large. A Medium with fewer `arguments` may be larger, in a kernel in which
// ranks 0 and 1 alone exchange Mediums.
template <class H>
void require_size(core::Endpoint<H>& endpoint, const bench::Settings& settings, bool medium, bool long_message,
                  unsigned arguments = conduit::kMaxArguments) {
  Bytes most = medium ? endpoint.max_medium() : endpoint.max_long();
  if (medium && arguments < conduit::kMaxArguments) {
    if (index(endpoint.rank()) >= 2) return;
    const Rank peer{1 - index(endpoint.rank())};
    most = std::min(endpoint.max_request_medium(peer, arguments), endpoint.max_reply_medium(peer, arguments));
  }
  if ((medium || long_message) && settings.size > most) {
    throw UsageError("kernel " + settings.kernel + ", op " + settings.op + ": size " + std::to_string(settings.size) +
                     " B exceeds the largest " + (medium ? "Medium" : "Long") + " payload of " + std::to_string(most) +
                     " B here");
  }
}

}  // namespace gasmeter::kernels

// An atomic of a domain, as the card's operation.
#pragma once

#include "gasmeter/conduit/atomic.hpp"
#include "gasmeter/networks/aries/amo.hpp"

namespace gasmeter::networks::aries {

struct AmoRequest {
  AmoCommand command{};
  AmoType type{};
  bool fetches = false;
  AmoOperands operands{};
};

// Tell whether cards do all of these operations on values of that type.
[[nodiscard]] bool is_offered(conduit::AtomicType type, conduit::AtomicOps ops);
// INC, DEC and SUB are ADD, as in the released conduit. SET is a swap that fetches nothing. GET is a fetching AND with
// all ones, CAS a fetching CSWAP. Throws UsageError for an operation that is not offered.
[[nodiscard]] AmoRequest amo_for(const conduit::RemoteAtomic& atomic);

}  // namespace gasmeter::networks::aries

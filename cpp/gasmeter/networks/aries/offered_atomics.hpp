// Atomics of domains as a card does them.
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

// Whether cards do all of these on values of that type.
[[nodiscard]] bool is_offered(conduit::AtomicType type, conduit::AtomicOps ops);
// protocol_constants: INC, DEC and SUB are ADD, SET is a swap that fetches nothing, GET a fetching AND with all ones,
// CAS a fetching CSWAP. Throws UsageError for what is not offered.
[[nodiscard]] AmoRequest amo_for(const conduit::RemoteAtomic& atomic);

}  // namespace gasmeter::networks::aries

#include "gasmeter/conduit/conduit.hpp"

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::conduit {

Status Conduit::put(Rank, void*, const void*, Bytes, OperationId, OperationId) {
  return Status::unsupported;
}

Status Conduit::get(Rank, void*, const void*, Bytes, OperationId) {
  return Status::unsupported;
}

Status Conduit::atomic(Rank, const RemoteAtomic&, OperationId) {
  return Status::unsupported;
}

Status Conduit::pin(std::span<std::byte>, Pin&) {
  return Status::unsupported;
}

void Conduit::unpin(Pin pinned) {
  throw UsageError("conduit: memory " + std::to_string(static_cast<std::uint32_t>(pinned)) +
                   " is unpinned, but this network pins none; unpin what a pin() has named");
}

}  // namespace gasmeter::conduit

#include "gasmeter/conduit/conduit.hpp"

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

}  // namespace gasmeter::conduit

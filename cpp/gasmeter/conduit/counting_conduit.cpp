#include "gasmeter/conduit/counting_conduit.hpp"

namespace gasmeter::conduit {

Status CountingConduit::prepare(const AmHeader& header, const void* client, Bytes least, Bytes most, AmBuffer& out) {
  const Status status = inner_.prepare(header, client, least, most, out);
  if (status == Status::no_resource) ++counters_.stalls;
  return status;
}

Status CountingConduit::commit(const AmBuffer& buffer, const AmCommit& message, OperationId local) {
  const Status status = inner_.commit(buffer, message, local);
  if (status == Status::ok) counters_.message(message.size);
  if (status == Status::no_resource) ++counters_.stalls;
  return status;
}

Status CountingConduit::transferred(Status status, Bytes bytes) {
  if (status == Status::ok) counters_.transfer(bytes);
  if (status == Status::no_resource) ++counters_.stalls;
  return status;
}

Status CountingConduit::put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) {
  return transferred(inner_.put(peer, to, from, bytes, root, local), bytes);
}

Status CountingConduit::get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) {
  return transferred(inner_.get(peer, to, from, bytes, root), bytes);
}

Status CountingConduit::atomic(Rank peer, const RemoteAtomic& atomic, OperationId root) {
  return transferred(inner_.atomic(peer, atomic, root), atomic.bytes());
}

}  // namespace gasmeter::conduit

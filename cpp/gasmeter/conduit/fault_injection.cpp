#include "gasmeter/conduit/fault_injection.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"

namespace gasmeter::conduit {

FaultPlan FaultPlan::every(std::uint64_t n) {
  if (n < 2) throw UsageError("fault plan: every " + std::to_string(n) + "th acquisition; 2 or more is allowed");
  return {Kind::every, n, 0};
}

FaultPlan FaultPlan::once(std::uint64_t k) {
  if (k == 0) throw UsageError("fault plan: acquisition 0; they are counted from 1");
  return {Kind::once, k, 0};
}

FaultPlan FaultPlan::random(double probability, std::uint64_t seed) {
  if (!(probability >= 0 && probability < 1)) {
    throw UsageError("fault plan: probability " + std::to_string(probability) + "; 0 <= p < 1 is allowed");
  }
  return {Kind::random, static_cast<std::uint64_t>(std::ldexp(probability, 64)), seed};
}

bool FaultPlan::fails(std::uint64_t acquisition) const {
  switch (kind_) {
    case Kind::none:
      return false;
    case Kind::every:
      return acquisition % number_ == 0;
    case Kind::once:
      return acquisition == number_;
    case Kind::random:
      return splitmix64(seed_ ^ splitmix64(acquisition)) < number_;
  }
  return false;
}

bool FaultInjectingConduit::injects() {
  injected_last_ = plan_.fails(++counters_.acquisitions);
  if (injected_last_) ++counters_.injected;
  return injected_last_;
}

Status FaultInjectingConduit::counted(Status status) {
  if (status == Status::no_resource) ++counters_.refused;
  return status;
}

Status FaultInjectingConduit::prepare(const AmHeader& header, const void* client, Bytes least, Bytes most,
                                      AmBuffer& out) {
  if (injects()) return Status::no_resource;
  const Status status = counted(inner_.prepare(header, client, least, most, out));
  if (status == Status::ok) ++counters_.prepared;
  return status;
}

Status FaultInjectingConduit::commit(const AmBuffer& buffer, const AmCommit& message, OperationId local) {
  if (injects()) return Status::no_resource;
  const Status status = counted(inner_.commit(buffer, message, local));
  if (status == Status::ok) ++counters_.committed;
  return status;
}

void FaultInjectingConduit::cancel(const AmBuffer& buffer) {
  inner_.cancel(buffer);
  ++counters_.cancelled;
}

Status FaultInjectingConduit::put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root,
                                  OperationId local) {
  if (!inner_.capabilities().native_put) return Status::unsupported;
  if (injects()) return Status::no_resource;
  return counted(inner_.put(peer, to, from, bytes, root, local));
}

Status FaultInjectingConduit::get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) {
  if (!inner_.capabilities().native_get) return Status::unsupported;
  if (injects()) return Status::no_resource;
  return counted(inner_.get(peer, to, from, bytes, root));
}

Status FaultInjectingConduit::atomic(Rank peer, const RemoteAtomic& atomic, OperationId root) {
  if (injects()) return Status::no_resource;
  return counted(inner_.atomic(peer, atomic, root));
}

Status FaultInjectingConduit::pin(std::span<std::byte> memory, Pin& pinned) {
  if (!inner_.capabilities().native_pin) return Status::unsupported;
  if (injects()) return Status::no_resource;
  return counted(inner_.pin(memory, pinned));
}

unsigned FaultInjectingConduit::poll(Delivery& sink, unsigned budget, PollFilter filter) {
  ++counters_.polls;
  return inner_.poll(sink, budget, filter);
}

SimTime FaultInjectingConduit::next_deadline() const {
  return injected_last_ ? SimTime{} : inner_.next_deadline();
}

}  // namespace gasmeter::conduit

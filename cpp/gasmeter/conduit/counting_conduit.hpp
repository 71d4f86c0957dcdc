// Counts for a conduit that does not count itself, at the cost of one virtual call and no virtual time.
#pragma once

#include <cstddef>
#include <span>

#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/counts.hpp"

namespace gasmeter::conduit {

// Wraps another conduit, which must outlive this one.
class CountingConduit final : public Conduit, public CountsItself {
 public:
  explicit CountingConduit(Conduit& inner) : inner_(inner) {}

  [[nodiscard]] const Capabilities& capabilities() const override { return inner_.capabilities(); }
  void attach(std::span<std::byte> segment) override { inner_.attach(segment); }
  Status prepare(const AmHeader& header, const void* client, Bytes least, Bytes most, AmBuffer& out) override;
  Status commit(const AmBuffer& buffer, const AmCommit& message, OperationId local) override;
  void cancel(const AmBuffer& buffer) override { inner_.cancel(buffer); }
  Status put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) override;
  Status get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) override;
  [[nodiscard]] bool offloads(AtomicType type, AtomicOps ops) const override { return inner_.offloads(type, ops); }
  Status atomic(Rank peer, const RemoteAtomic& atomic, OperationId root) override;
  Status pin(std::span<std::byte> memory, Pin& pinned) override { return inner_.pin(memory, pinned); }
  void unpin(Pin pinned) override { inner_.unpin(pinned); }
  void forget(std::span<const std::byte> memory) override { inner_.forget(memory); }
  unsigned poll(Delivery& sink, unsigned budget, PollFilter filter) override {
    return inner_.poll(sink, budget, filter);
  }
  [[nodiscard]] bool polls_in_vain() override { return inner_.polls_in_vain(); }
  [[nodiscard]] SimTime next_deadline() const override { return inner_.next_deadline(); }

  void add_to(Counts& counts) const override { counters_.add_to(counts); }

 private:
  Status transferred(Status status, Bytes bytes);

  Conduit& inner_;
  ConduitCounters counters_;
};

}  // namespace gasmeter::conduit

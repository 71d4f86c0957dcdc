// A conduit whose acquisitions fail by plan. Tests use it to show that no resource leaks and that no call polls that
// must not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gasmeter/conduit/conduit.hpp"

namespace gasmeter::conduit {

// The plan: the acquisitions that answer no_resource. prepare, commit, put, get, atomic and pin are counted together
// from 1.
class FaultPlan {
 public:
  [[nodiscard]] static FaultPlan none() { return {Kind::none, 0, 0}; }
  // Fail acquisitions n, 2n, ...; n >= 2, or nothing would ever succeed.
  [[nodiscard]] static FaultPlan every(std::uint64_t n);
  // Fail only the k-th acquisition, k >= 1.
  [[nodiscard]] static FaultPlan once(std::uint64_t k);
  // Fail each acquisition with this probability, 0 <= p < 1. The same seed fails the same acquisitions.
  [[nodiscard]] static FaultPlan random(double probability, std::uint64_t seed);

  [[nodiscard]] bool fails(std::uint64_t acquisition) const;

 private:
  enum class Kind : std::uint8_t { none, every, once, random };
  FaultPlan(Kind kind, std::uint64_t number, std::uint64_t seed) : kind_(kind), number_(number), seed_(seed) {}

  Kind kind_;
  std::uint64_t number_;  // n, k, or the probability in 2^-64
  std::uint64_t seed_;
};

struct FaultCounters {
  std::uint64_t acquisitions = 0;
  std::uint64_t injected = 0;   // refused by the plan
  std::uint64_t refused = 0;    // refused by the conduit itself
  std::uint64_t prepared = 0;   // prepared messages
  std::uint64_t committed = 0;  // prepared messages that were sent
  std::uint64_t cancelled = 0;  // prepared messages that were cancelled
  std::uint64_t polls = 0;
  // Return the number of messages prepared and neither sent nor cancelled: 0 at the end of a program without leaks.
  [[nodiscard]] std::uint64_t outstanding() const { return prepared - committed - cancelled; }
};

// Wraps another conduit, which must outlive this one.
class FaultInjectingConduit final : public Conduit {
 public:
  FaultInjectingConduit(Conduit& inner, const FaultPlan& plan) : inner_(inner), plan_(plan) {}

  [[nodiscard]] const Capabilities& capabilities() const override { return inner_.capabilities(); }
  void attach(std::span<std::byte> segment) override { inner_.attach(segment); }
  Status prepare(const AmHeader& header, const void* client, Bytes least, Bytes most, AmBuffer& out) override;
  Status commit(const AmBuffer& buffer, const AmCommit& message, OperationId local) override;
  void cancel(const AmBuffer& buffer) override;
  Status put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) override;
  Status get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) override;
  [[nodiscard]] bool offloads(AtomicType type, AtomicOps ops) const override { return inner_.offloads(type, ops); }
  Status atomic(Rank peer, const RemoteAtomic& atomic, OperationId root) override;
  Status pin(std::span<std::byte> memory, Pin& pinned) override;
  void unpin(Pin pinned) override { inner_.unpin(pinned); }
  void forget(std::span<const std::byte> memory) override { inner_.forget(memory); }
  unsigned poll(Delivery& sink, unsigned budget, PollFilter filter) override;
  // Return 0 after an injected failure: nothing will arrive that ends a wait for the resource, so that the wait must
  // end by itself.
  [[nodiscard]] SimTime next_deadline() const override;

  [[nodiscard]] const FaultCounters& counters() const { return counters_; }

 private:
  [[nodiscard]] bool injects();
  Status counted(Status status);

  Conduit& inner_;
  FaultPlan plan_;
  bool injected_last_ = false;
  FaultCounters counters_;
};

}  // namespace gasmeter::conduit

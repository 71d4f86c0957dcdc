// The contract between core and a network's conduit: one virtual call per message or completion, never per byte.
//
// Every hook takes all resources that it needs, or none. A hook never waits, polls or runs a handler; only poll()
// hands arrivals to the sink. Core implements everything else once: waiting, fixed payload (prepare, copy, commit),
// IMMEDIATE, the bypass between neighbours, and every other operation over AMs. A complete conduit needs only prepare,
// commit, cancel and poll.
#pragma once

#include <cstddef>
#include <span>

#include "gasmeter/base/status.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/atomic.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/conduit/pages.hpp"

namespace gasmeter::conduit {

// Identifies an operation in core's operation table. kNoOperation: no completion is to be reported.
enum class OperationId : std::uint32_t {};
inline constexpr OperationId kNoOperation{0xffffffffU};
// Value for a put's `local`: the source may change as soon as the hook returns, so that no completion is reported.
inline constexpr OperationId kAtReturn{0xfffffffeU};

// Core's sink for the arrivals and completions that poll() finds. Both calls may run handlers, and may call the
// conduit's hooks for replies.
class Delivery {
 public:
  virtual void arrived(const AmView& message) = 0;
  virtual void completed(OperationId operation) = 0;

 protected:
  ~Delivery() = default;
};

enum class PollFilter : std::uint8_t {
  everything,
  replies_only,  // inside a request handler that waits for room for its reply: no request may be delivered
};

class Conduit {
 public:
  Conduit() = default;
  Conduit(const Conduit&) = delete;
  Conduit& operator=(const Conduit&) = delete;
  virtual ~Conduit() = default;

  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;

  // Declare this rank's segment, the destination of Longs, puts and gets of its peers. Called once, before all other
  // hooks.
  virtual void attach(std::span<std::byte> /*segment*/) {}

  // Take everything needed to send between `least` and `most` payload bytes to header.peer (Short: both 0), and fill
  // `out`. `client` is the caller's payload, from which a conduit may send in place at commit. If it is null, the
  // caller writes into out.data. A Long needs header and payload here; its destination follows at commit.
  virtual Status prepare(const AmHeader& header, const void* client, Bytes least, Bytes most, AmBuffer& out) = 0;
  // Send the message. If the commit is refused, the buffer stays prepared. If it throws, the conduit has taken the
  // buffer. `local` is reported by completed() when the client's payload may change. A conduit that copied the payload
  // also reports `local`, at the next poll.
  virtual Status commit(const AmBuffer& buffer, const AmCommit& message, OperationId local) = 0;
  virtual void cancel(const AmBuffer& buffer) = 0;

  // Start a put. completed() reports `root` when the data are visible at the target. It reports `local` when the
  // source may change, at the latest with the root. kAtReturn is only passed with at most capabilities().copied_puts
  // bytes: the conduit then copies data that it would read later.
  virtual Status put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local);
  virtual Status get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root);

  // Tell whether the network itself does all of `ops` on values of `type`, atomically with each other and at every
  // rank, this rank included. A processor's own atomics may interfere with them.
  [[nodiscard]] virtual bool offloads(AtomicType /*type*/, AtomicOps /*ops*/) const { return false; }
  // Start an operation that the network offloads. completed() reports `root` when the operation is done at the target
  // and its result, if any, is in place.
  virtual Status atomic(Rank peer, const RemoteAtomic& atomic, OperationId root);

  // Pin the whole pages of this rank's `memory` (1 byte or more) until unpin(pinned), so that the network reaches them
  // without a query. Costs a registration if the memory is not registered yet. no_resource: other pinned memory leaves
  // no room, and nothing was charged. Throws UsageError for more pages than capabilities().pins allows. Every pin()
  // that succeeds needs one unpin().
  virtual Status pin(std::span<std::byte> memory, Pin& pinned);
  // Undo pin(). No transfer in flight may name the memory. The deregistration is charged at once or, if the conduit
  // keeps a cache, when a later pin() needs the room.
  virtual void unpin(Pin pinned);
  // Note that this rank's `memory`, outside the segment, has been freed or mapped anew. Other memory may get the same
  // addresses, and a cache of registrations must not take it for registered. No transfer in flight may name the
  // memory.
  virtual void forget(std::span<const std::byte> /*memory*/) {}

  // Hand at most `budget` arrivals and completions to the sink; return their number.
  virtual unsigned poll(Delivery& sink, unsigned budget, PollFilter filter) = 0;
  // Tell whether poll() would find nothing, as far as is known without waiting for the rank's clock. Called in virtual
  // time, by a rank that sleeps when a poll finds nothing. A true result replaces that poll, and the host is told that
  // it was left out.
  [[nodiscard]] virtual bool polls_in_vain() { return false; }
  // Return the next instant at which poll() has work even if nothing arrives (retransmission timers).
  [[nodiscard]] virtual SimTime next_deadline() const { return kNever; }
};

}  // namespace gasmeter::conduit

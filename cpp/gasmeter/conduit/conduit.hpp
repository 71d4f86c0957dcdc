// The contract between core and a network's conduit: one virtual call per message or completion, never per byte.
//
// Every hook takes all it needs or nothing; it never waits, polls or runs a handler (poll() alone hands arrivals to the
// sink). Waiting, fixed payload = prepare + copy + commit, IMMEDIATE, the neighbourhood bypass and the reference
// implementation of every other operation over AMs live in core, once. prepare, commit, cancel and poll are enough for
// a complete conduit.
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

// Names an operation of core's operation table; kNoOperation: nobody wants to hear of it.
enum class OperationId : std::uint32_t {};
inline constexpr OperationId kNoOperation{0xffffffffU};
// In the place of a put's `local`: its source may change as soon as the hook returns, so that there is nothing to tell.
inline constexpr OperationId kAtReturn{0xfffffffeU};

// Core's sink for what poll() finds. Both calls may run handlers and may call the conduit's reply hooks.
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

  // Once, before anything else: the memory of this rank that others name as the destination of Longs, puts and gets.
  virtual void attach(std::span<std::byte> /*segment*/) {}

  // Takes everything needed to send between `least` and `most` payload bytes to header.peer (Short: both 0) and fills
  // `out`. `client`: the caller's payload, which a conduit may send from in place at commit; else null and the caller
  // writes into out.data. Long: header and payload; the destination comes with commit.
  virtual Status prepare(const AmHeader& header, const void* client, Bytes least, Bytes most, AmBuffer& out) = 0;
  // Sends. Refused: the buffer is still prepared. `local`: completed() when the client's payload may change; a conduit
  // that copied has to report it too, at the next poll.
  virtual Status commit(const AmBuffer& buffer, const AmCommit& message, OperationId local) = 0;
  virtual void cancel(const AmBuffer& buffer) = 0;

  // `root`: completed() when the data is visible at the target; `local`: when the source may change, at the latest with
  // the root. kAtReturn comes with at most capabilities().copied_puts bytes alone: what would be read later is copied.
  virtual Status put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local);
  virtual Status get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root);

  // Whether the network itself does all of `ops` on values of `type`, atomically with each other and at every rank,
  // this one too; a processor's own atomics may interfere with them.
  [[nodiscard]] virtual bool offloads(AtomicType /*type*/, AtomicOps /*ops*/) const { return false; }
  // One that it offloads. `root`: completed() when it is done at the target and its result, if it has one, is in place.
  virtual Status atomic(Rank peer, const RemoteAtomic& atomic, OperationId root);

  // Pins the whole pages of this rank's `memory`, 1 byte or more, until unpin(pinned): the network can reach it without
  // asking. Costs registration where it is not registered yet. no_resource: what is pinned leaves no room; nothing was
  // charged. Throws UsageError for more pages than capabilities().pins allows. Of every pin that succeeds one unpin().
  virtual Status pin(std::span<std::byte> memory, Pin& pinned);
  // Nothing that names the memory may be under way. Costs deregistration at once or, where the conduit keeps a cache,
  // when a later pin() needs the room.
  virtual void unpin(Pin pinned);
  // This rank's `memory`, outside the segment, has been freed or mapped anew: what has its addresses next is other
  // memory, of which a cache of registrations may not say that it is registered. Nothing that names it may be under
  // way.
  virtual void forget(std::span<const std::byte> /*memory*/) {}

  // Hands at most `budget` arrivals and completions to the sink; returns how many.
  virtual unsigned poll(Delivery& sink, unsigned budget, PollFilter filter) = 0;
  // In virtual time, by a rank that sleeps where a poll finds nothing: whether poll() would find nothing, as far as is
  // known without waiting for the rank's clock. That was a poll then, and the host is told that it was left out.
  [[nodiscard]] virtual bool polls_in_vain() { return false; }
  // The next instant at which poll() has work even if nothing arrives (retransmission timers).
  [[nodiscard]] virtual SimTime next_deadline() const { return kNever; }
};

}  // namespace gasmeter::conduit

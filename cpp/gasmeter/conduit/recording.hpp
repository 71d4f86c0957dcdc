// Record of the operations of each rank of a job, in program order and on the rank's own clock. Other simulators
// replay it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gasmeter/conduit/conduit.hpp"

namespace gasmeter::conduit {

// Kinds of operations. Receive and arrive are the far ends of another rank's operation, complete is that of the rank's
// own.
enum class RecordedKind : std::uint8_t {
  send,      // a message for the peer's program
  put,       // bytes that the peer's interface receives and acknowledges
  get,       // bytes that the peer's interface sends
  exchange,  // bytes to the peer's interface, and as many back
  receive,   // the program receives a message
  arrive,    // the program sees that a put has arrived
  complete,  // the program sees that its own put, get or exchange is done
};

inline constexpr std::uint64_t kUnmatched = ~std::uint64_t{0};

struct Recorded {
  RecordedKind kind{};
  Rank peer{};
  Bytes bytes = 0;  // without headers
  SimTime begin;    // receive, arrive, complete: the first instant at which the program could have seen it
  SimTime end;      // when the network, or the program, had taken it
  SimTime idle;     // sleep of the rank between the operation before and `begin`
  std::uint64_t sequence = kUnmatched;  // number of the operation at the rank that began it, from 0
  std::uint64_t likeness = 0;           // equal for messages that cannot be told apart
};

// Share of a rank in a record. Only the rank's own fibre may call it.
class RankRecord {
 public:
  struct Instant {
    SimTime now;
    SimTime idled;  // total sleep of the rank
  };
  using Clock = std::function<Instant()>;

  RankRecord(Rank rank, Clock clock) : rank_(rank), clock_(std::move(clock)) {}

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] SimTime now() const { return clock_().now; }
  // Operations between begin() and end() are kept until the next begin().
  void begin();
  void end();
  // Note that the program looks for arrivals.
  void look();
  // Record an operation, begun at `begin`, that the program has handed to the network. Return its number.
  std::uint64_t initiated(RecordedKind kind, Rank peer, Bytes bytes, SimTime begin, std::uint64_t likeness);
  // Record an arrival or completion that the program is handed. `sequence` is given for completions only; match()
  // finds that of others.
  void noticed(RecordedKind kind, Rank peer, Bytes bytes, std::uint64_t likeness, std::uint64_t sequence = kUnmatched);

  [[nodiscard]] std::span<const Recorded> operations() const { return operations_; }
  [[nodiscard]] SimTime begun() const { return begun_; }
  [[nodiscard]] SimTime ended() const { return ended_; }

 private:
  friend void match(std::span<RankRecord> ranks);
  void add(const Recorded& operation, SimTime idled);

  Rank rank_;
  Clock clock_;
  std::vector<Recorded> operations_;
  std::uint64_t next_ = 0;
  bool recording_ = false;
  SimTime begun_;
  SimTime ended_;
  Instant looked_;
  Instant last_;  // end of the operation before
};

// Give receives and arrivals the sequence numbers of their peers' sends and puts, in order among equal ones. An event
// whose other end lies outside the record stays unmatched.
void match(std::span<RankRecord> ranks);

// Wraps another conduit and a record; both must outlive this object.
class RecordingConduit final : public Conduit {
 public:
  RecordingConduit(Conduit& inner, RankRecord& record) : inner_(inner), record_(record) {}

  [[nodiscard]] const Capabilities& capabilities() const override { return inner_.capabilities(); }
  void attach(std::span<std::byte> segment) override { inner_.attach(segment); }
  Status prepare(const AmHeader& header, const void* client, Bytes least, Bytes most, AmBuffer& out) override {
    return inner_.prepare(header, client, least, most, out);
  }
  Status commit(const AmBuffer& buffer, const AmCommit& message, OperationId local) override;
  void cancel(const AmBuffer& buffer) override { inner_.cancel(buffer); }
  Status put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) override;
  Status get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) override;
  [[nodiscard]] bool offloads(AtomicType type, AtomicOps ops) const override { return inner_.offloads(type, ops); }
  Status atomic(Rank peer, const RemoteAtomic& atomic, OperationId root) override;
  Status pin(std::span<std::byte> memory, Pin& pinned) override { return inner_.pin(memory, pinned); }
  void unpin(Pin pinned) override { inner_.unpin(pinned); }
  void forget(std::span<const std::byte> memory) override { inner_.forget(memory); }
  unsigned poll(Delivery& sink, unsigned budget, PollFilter filter) override;
  [[nodiscard]] bool polls_in_vain() override { return inner_.polls_in_vain(); }
  [[nodiscard]] SimTime next_deadline() const override { return inner_.next_deadline(); }

 private:
  class Tap;
  struct UnderWay {
    Rank peer{};
    Bytes bytes = 0;
    std::uint64_t sequence = 0;
  };
  void began(RecordedKind kind, Rank peer, Bytes bytes, SimTime begin, OperationId root);
  void completed(OperationId operation);

  Conduit& inner_;
  RankRecord& record_;
  // Puts, gets and atomics whose completion is to be reported. An operation may have several parts.
  std::unordered_map<OperationId, std::deque<UnderWay>> under_way_;
};

}  // namespace gasmeter::conduit

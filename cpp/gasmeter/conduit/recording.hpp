// What each rank of a job did, in program order and on its own clock: for replays by other simulators.
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

// Receive, arrive and complete are the far ends of what another rank (complete: this one) began.
enum class RecordedKind : std::uint8_t {
  send,      // a message for the peer's program
  put,       // bytes that the peer's interface takes and acknowledges
  get,       // bytes that the peer's interface sends
  exchange,  // bytes there and as many back, by the peer's interface
  receive,   // the program is handed a message
  arrive,    // the program sees that a put has come
  complete,  // the program sees that its own put, get or exchange is done
};

inline constexpr std::uint64_t kUnmatched = ~std::uint64_t{0};

struct Recorded {
  RecordedKind kind{};
  Rank peer{};
  Bytes bytes = 0;                      // without headers
  SimTime begin;                        // receive, arrive, complete: when the program could have seen it first
  SimTime end;                          // when the network had it, or the program
  SimTime idle;                         // of the time since the operation before, up to `begin`, what the rank slept
  std::uint64_t sequence = kUnmatched;  // counted from 0 by the rank that began it
  std::uint64_t likeness = 0;           // equal for messages that nobody can tell apart
};

// One rank's share of a record. Its calls are made on the rank's own fibre.
class RankRecord {
 public:
  struct Instant {
    SimTime now;
    SimTime idled;  // what the rank has slept, ever
  };
  using Clock = std::function<Instant()>;

  RankRecord(Rank rank, Clock clock) : rank_(rank), clock_(std::move(clock)) {}

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] SimTime now() const { return clock_().now; }
  // What is between the two is kept, until the next begin().
  void begin();
  void end();
  // The program looks for what has come.
  void look();
  // It has handed over what it began at `begin`. Returns its number.
  std::uint64_t initiated(RecordedKind kind, Rank peer, Bytes bytes, SimTime begin, std::uint64_t likeness);
  // It is handed what came. `sequence`: of a completion; others find theirs when ranks are matched.
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
  Instant last_;  // the end of the operation before
};

// Gives receives and arrivals the numbers of what their peers sent, in order among those that look alike. What began or
// ends outside of the record stays unmatched.
void match(std::span<RankRecord> ranks);

// Wraps another conduit, which outlives it, as does the record.
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
  // Puts and gets whose completion somebody wants to hear of; an operation may have several parts.
  std::unordered_map<OperationId, std::deque<UnderWay>> under_way_;
};

}  // namespace gasmeter::conduit

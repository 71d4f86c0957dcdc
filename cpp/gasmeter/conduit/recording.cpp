#include "gasmeter/conduit/recording.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace gasmeter::conduit {

namespace {

bool is_initiation(RecordedKind kind) {
  return kind <= RecordedKind::exchange;
}

// Return a hash of the properties of a message that both ends know.
std::uint64_t likeness_of(bool is_request, Category category, HandlerIndex handler, Bytes size,
                          std::span<const std::int32_t> arguments) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, word by word
  const auto add = [&hash](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3U; };
  add(is_request ? 1 : 0);
  add(static_cast<std::uint64_t>(category));
  add(index(handler));
  add(size);
  for (const std::int32_t argument : arguments) add(static_cast<std::uint32_t>(argument));
  return hash;
}

Bytes bytes_of(Bytes payload, std::size_t arguments) {
  return payload + arguments * sizeof(std::int32_t);
}

}  // namespace

void RankRecord::begin() {
  operations_.clear();
  last_ = looked_ = clock_();
  begun_ = last_.now;
  recording_ = true;
}

void RankRecord::end() {
  ended_ = now();
  recording_ = false;
}

void RankRecord::look() {
  looked_ = clock_();
}

void RankRecord::add(const Recorded& operation, SimTime idled) {
  if (recording_) operations_.push_back(operation);
  last_ = {operation.end, idled};
}

std::uint64_t RankRecord::initiated(RecordedKind kind, Rank peer, Bytes bytes, SimTime begin, std::uint64_t likeness) {
  const Instant instant = clock_();
  const SimTime idle = instant.idled - last_.idled;
  add({kind, peer, bytes, std::max(begin, last_.now), instant.now, idle, next_, likeness}, instant.idled);
  return next_++;
}

// Note an event. One poll may find several events: the second is taken to begin when the first was handled.
void RankRecord::noticed(RecordedKind kind, Rank peer, Bytes bytes, std::uint64_t likeness, std::uint64_t sequence) {
  const Instant instant = clock_();
  const bool first = looked_.now >= last_.now;
  const SimTime begin = first ? looked_.now : last_.now;
  const SimTime idle = first ? looked_.idled - last_.idled : SimTime{};
  add({kind, peer, bytes, begin, instant.now, idle, sequence, likeness}, instant.idled);
}

void match(std::span<RankRecord> ranks) {
  using Flow = std::tuple<Rank, Rank, bool, std::uint64_t>;  // source, destination, is a put, likeness
  std::map<Flow, std::deque<std::uint64_t>> sent;
  for (const RankRecord& rank : ranks) {
    for (const Recorded& each : rank.operations_) {
      if (each.kind != RecordedKind::send && each.kind != RecordedKind::put) continue;
      sent[{rank.rank_, each.peer, each.kind == RecordedKind::put, each.likeness}].push_back(each.sequence);
    }
  }
  for (RankRecord& rank : ranks) {
    for (Recorded& each : rank.operations_) {
      if (is_initiation(each.kind) || each.kind == RecordedKind::complete) continue;
      const auto messages = sent.find({each.peer, rank.rank_, each.kind == RecordedKind::arrive, each.likeness});
      each.sequence = kUnmatched;
      if (messages == sent.end() || messages->second.empty()) continue;
      each.sequence = messages->second.front();
      messages->second.pop_front();
    }
  }
}

// Sink of one poll, between the conduit and core's sink.
class RecordingConduit::Tap final : public Delivery {
 public:
  Tap(RecordingConduit& self, Delivery& sink) : self_(self), sink_(sink) {}

  void arrived(const AmView& message) override {
    self_.record_.noticed(
        RecordedKind::receive, message.source, bytes_of(message.size, message.arguments.size()),
        likeness_of(message.is_request, message.category, message.handler, message.size, message.arguments));
    sink_.arrived(message);
  }
  void completed(OperationId operation) override {
    self_.completed(operation);
    sink_.completed(operation);
  }

 private:
  RecordingConduit& self_;
  Delivery& sink_;
};

Status RecordingConduit::commit(const AmBuffer& buffer, const AmCommit& message, OperationId local) {
  const SimTime begin = record_.now();
  const Status status = inner_.commit(buffer, message, local);
  if (status == Status::ok) {
    const AmHeader& header = buffer.header;
    record_.initiated(RecordedKind::send, header.peer, bytes_of(message.size, header.arguments), begin,
                      likeness_of(!header.is_reply, header.category, message.handler, message.size, message.arguments));
  }
  return status;
}

Status RecordingConduit::put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) {
  const SimTime begin = record_.now();
  const Status status = inner_.put(peer, to, from, bytes, root, local);
  if (status == Status::ok) began(RecordedKind::put, peer, bytes, begin, root);
  return status;
}

Status RecordingConduit::get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) {
  const SimTime begin = record_.now();
  const Status status = inner_.get(peer, to, from, bytes, root);
  if (status == Status::ok) began(RecordedKind::get, peer, bytes, begin, root);
  return status;
}

Status RecordingConduit::atomic(Rank peer, const RemoteAtomic& atomic, OperationId root) {
  const SimTime begin = record_.now();
  const Status status = inner_.atomic(peer, atomic, root);
  if (status == Status::ok) began(RecordedKind::exchange, peer, atomic.bytes(), begin, root);
  return status;
}

void RecordingConduit::began(RecordedKind kind, Rank peer, Bytes bytes, SimTime begin, OperationId root) {
  const std::uint64_t sequence = record_.initiated(kind, peer, bytes, begin, 0);
  if (root != kNoOperation) under_way_[root].push_back({peer, bytes, sequence});
}

// Record a completion. Local completions and operations that are not under way say nothing about the network.
void RecordingConduit::completed(OperationId operation) {
  const auto parts = under_way_.find(operation);
  if (parts == under_way_.end()) return;
  const UnderWay part = parts->second.front();
  parts->second.pop_front();
  if (parts->second.empty()) under_way_.erase(parts);
  record_.noticed(RecordedKind::complete, part.peer, part.bytes, 0, part.sequence);
}

unsigned RecordingConduit::poll(Delivery& sink, unsigned budget, PollFilter filter) {
  record_.look();
  Tap tap(*this, sink);
  return inner_.poll(tap, budget, filter);
}

}  // namespace gasmeter::conduit

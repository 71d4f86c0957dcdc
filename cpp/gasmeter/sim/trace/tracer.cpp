#include "gasmeter/sim/trace/tracer.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::sim {

const char* name_of(Step step) {
  static constexpr std::array<const char*, static_cast<std::size_t>(Step::count_)> kNames{
      "inject", "header", "copy", "doorbell", "driver", "system call", "lock", "registration", "two-sided",
      "match",  "check",  "flag", "scan",     "search", "translate",   "poll", "dispatch",     "handler",
      "device", "queue",  "wire", "hop",      "timer",  "stall",       "work", "unknown"};
  return kNames[static_cast<std::size_t>(step)];
}

void Tracer::name(Action::Run run, Step step) {
  name(run, [step](const Action&, SimTime, SimTime at) {
    Parts parts;
    parts.add(step, at);
    return parts;
  });
}

void Tracer::name_hop(Action::Run run, SimTime latency) {
  name(run, [latency](const Action&, SimTime, SimTime at) {
    Parts parts;
    parts.add(Step::queue, at - latency);
    parts.add(Step::hop, at);
    return parts;
  });
}

void Tracer::clear() {
  for (OfRank& rank : ranks_) rank = {};
  events_.clear();
}

void Tracer::worked(Rank rank, Step step, SimTime begin, SimTime end) {
  if (end <= begin) return;
  OfRank& self = ranks_[index(rank)];
  self.spans.push_back({begin, end, step, self.handlers != 0, false, {}});
}

void Tracer::slept(Rank rank, SimTime begin, SimTime end) {
  OfRank& self = ranks_[index(rank)];
  if (end > begin) {
    const bool is_woken = self.is_woken && self.woken_by.at <= end && self.woken_by.at >= begin;
    self.spans.push_back({begin, end, is_woken ? Step::poll : Step::timer, self.handlers != 0, true,
                          is_woken ? self.woken_by : Cause{}});
  }
  self.is_woken = false;
}

void Tracer::posted(const Cause& cause, NodeId from, NodeId to, SimTime at, Tie tie, const Action& event) {
  const SimTime now = cause.at;
  // Credits of a node share one tie: a credit that posts another at the same instant stands for both.
  if (cause.kind == Cause::Kind::event && cause.at == at && cause.tie == tie) return;
  Parts parts;
  const auto match = names_.find(event.is());
  if (match != names_.end()) {
    parts = match->second(event, now, at);
  } else {
    parts.add(Step::device, at);
  }
  events_[{at, tie}] = {now, parts, cause, index(from), index(to)};
}

void Tracer::woken(const Cause& cause, Rank rank) {
  OfRank& self = ranks_[index(rank)];
  if (self.is_woken) return;
  self.is_woken = true;
  self.woken_by = cause;
}

void Tracer::marked(Rank rank, Mark mark, SimTime at) {
  OfRank& self = ranks_[index(rank)];
  switch (mark) {
    case Mark::begin:
      self.operation_begin = at;
      break;
    case Mark::end:
      self.operations.emplace_back(self.operation_begin, at);
      break;
    case Mark::handler_begin:
      ++self.handlers;
      break;
    case Mark::handler_end:
      --self.handlers;
      break;
  }
}

const std::vector<std::pair<SimTime, SimTime>>& Tracer::operations(Rank rank) const {
  return ranks_.at(index(rank)).operations;
}

// Goes back along a way, from its end to its begin.
class Tracer::Walk {
 public:
  Walk(const Tracer& tracer, SimTime begin) : tracer_(tracer), begin_(begin) {}

  std::vector<Stretch> from(Rank rank, SimTime end) {
    Cause cause{Cause::Kind::rank, index(rank), end, 0};
    now_ = end;
    unsigned idle_jumps = 0;  // jumps between events of one instant that stand for one another
    while (now_ > begin_) {
      const SimTime before = now_;
      if (idle_jumps > kMostJumps) cause = {};
      switch (cause.kind) {
        case Cause::Kind::rank:
          cause = on_rank(cause.rank);
          break;
        case Cause::Kind::event:
          cause = before_event({cause.at, cause.tie});
          break;
        case Cause::Kind::none:
          add(Step::unknown, begin_, false, true, last_rank_, last_rank_);
          break;
      }
      idle_jumps = now_ == before ? idle_jumps + 1 : 0;
    }
    std::reverse(way_.begin(), way_.end());
    return std::move(way_);
  }

 private:
  static constexpr unsigned kMostJumps = 100'000;

  // Add the stretch between `begin` and the instant that the way has come to.
  void add(Step step, SimTime begin, bool in_handler, bool on_rank, std::uint32_t from, std::uint32_t to) {
    begin = std::max(begin, begin_);
    if (begin >= now_) return;
    way_.push_back({begin, now_, step, in_handler, on_rank, from, to});
    now_ = begin;
  }

  // Go back to the event that woke the rank.
  Cause on_rank(std::uint32_t rank) {
    last_rank_ = rank;
    const std::vector<Span>& spans = tracer_.ranks_[rank].spans;
    auto next = std::lower_bound(spans.begin(), spans.end(), now_,
                                 [](const Span& span, SimTime at) { return span.begin < at; });
    while (now_ > begin_) {
      if (next == spans.begin()) return {};
      const Span& span = *--next;
      add(Step::unknown, span.end, span.in_handler, true, rank, rank);  // nobody told why the clock moved
      if (span.sleep && span.woken_by.kind != Cause::Kind::none) {
        add(Step::poll, span.woken_by.at, span.in_handler, true, rank, rank);
        return span.woken_by;
      }
      // Calls and cache lines in a handler are the handler's work; headers, copies and doorbells belong to what it
      // sends.
      const bool handles = span.in_handler && (span.step == Step::inject || span.step == Step::poll);
      add(handles ? Step::handler : span.step, span.begin, span.in_handler, true, rank, rank);
    }
    return {};
  }

  Cause before_event(const Key& key) {
    const auto match = tracer_.events_.find(key);
    if (match == tracer_.events_.end()) return {};
    const Event& event = match->second;
    // Bytes behind a head that posted the event are on the wire meanwhile.
    SimTime tail = event.posted;
    if (event.cause.kind == Cause::Kind::event) {
      const auto before = tracer_.events_.find({event.cause.at, event.cause.tie});
      if (before != tracer_.events_.end() && event.to == before->second.to) {
        tail = std::max(tail, before->second.parts.tail);
      }
    }
    for (unsigned part = event.parts.count; part-- > 0;) {
      const SimTime begin = part == 0 ? tail : std::max(tail, event.parts.parts[part - 1].until);
      add(event.parts.parts[part].step, begin, false, false, event.from, event.to);
    }
    add(Step::wire, event.posted, false, false, event.from, event.to);
    return event.cause;
  }

  const Tracer& tracer_;
  SimTime begin_;
  SimTime now_;
  std::uint32_t last_rank_ = 0;
  std::vector<Stretch> way_;
};

std::vector<Stretch> Tracer::way(Rank rank, SimTime begin, SimTime end) const {
  if (end < begin) throw UsageError("trace: an operation that ends before it begins");
  if (index(rank) >= ranks_.size()) {
    throw UsageError("trace: rank " + std::to_string(index(rank)) + " of " + std::to_string(ranks_.size()) + " ranks");
  }
  return Walk(*this, begin).from(rank, end);
}

}  // namespace gasmeter::sim

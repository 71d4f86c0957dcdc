// Traces of an engine: who spent what where, and the way that led to an instant.
//
// The tracer knows no network. Ranks tell what they spend their clocks on. The engine tells which event was posted by
// whom, and which event ended a rank's sleep. The way to an instant is found backwards: a rank works, or was woken by
// an event; an event was posted by another event or by a rank. The way has no gaps, so that the steps of an operation
// sum to its time. Networks only name their events (name()); unnamed events are steps of a device.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gasmeter/base/random.hpp"
#include "gasmeter/base/stamps.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/trace/step.hpp"

namespace gasmeter::sim {

// A stretch of an operation's way: on a rank, or between two nodes (inside a card both are the same).
struct Stretch {
  SimTime begin;
  SimTime end;
  Step step = Step::unknown;
  bool in_handler = false;
  bool on_rank = false;
  std::uint32_t from = 0;  // the rank, or the node
  std::uint32_t to = 0;    //
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

// Belongs to one engine; grows with what happens between two calls of clear().
class Tracer {
 public:
  // A step of the time between an event's posting and its happening, up to an instant. Steps that end before the
  // posting take no time; the last step lasts until the event, whatever `until` says.
  struct Part {
    Step step;
    SimTime until;
  };
  struct Parts {
    std::array<Part, 3> parts{};
    unsigned count = 0;
    SimTime tail;  // bytes behind a head go on arriving until then
    void add(Step step, SimTime until) { parts[count++] = {step, until}; }
  };
  // Cause of an event or a wake.
  struct Cause {
    enum class Kind : std::uint8_t { none, rank, event } kind = Kind::none;
    std::uint32_t rank = 0;
    SimTime at;
    Tie tie = 0;
  };
  using Explain = std::function<Parts(const Action& event, SimTime posted, SimTime at)>;

  explicit Tracer(unsigned ranks) : ranks_(ranks) {}

  // Let `explain` describe events that run `run`, when one is posted.
  void name(Action::Run run, Explain explain) { names_[run] = std::move(explain); }
  // Let events that run `run` be one step.
  void name(Action::Run run, Step step);
  // Let events that run `run` be a hop of that latency, after a wait for the link.
  void name_hop(Action::Run run, SimTime latency);

  void clear();

  // --- called by hosts and the engine
  void worked(Rank rank, Step step, SimTime begin, SimTime end);
  void slept(Rank rank, SimTime begin, SimTime end);
  void posted(const Cause& cause, NodeId from, NodeId to, SimTime at, Tie tie, const Action& event);
  void woken(const Cause& cause, Rank rank);
  void marked(Rank rank, Mark mark, SimTime at);

  // --- results
  // Return the begin and end of the operations that the rank has marked.
  [[nodiscard]] const std::vector<std::pair<SimTime, SimTime>>& operations(Rank rank) const;
  // Return the way that led the rank to `end`, from `begin` on, in order and without gaps. Throws UsageError where
  // `end` is before `begin`.
  [[nodiscard]] std::vector<Stretch> way(Rank rank, SimTime begin, SimTime end) const;

 private:
  struct Span {
    SimTime begin;
    SimTime end;
    Step step = Step::unknown;
    bool in_handler = false;
    bool sleep = false;
    Cause woken_by;
  };
  struct OfRank {
    std::vector<Span> spans;
    std::vector<std::pair<SimTime, SimTime>> operations;
    SimTime operation_begin;
    unsigned handlers = 0;  // nested handlers
    bool is_woken = false;
    Cause woken_by;  // the first cause since it slept last
  };
  struct Event {
    SimTime posted;
    Parts parts;
    Cause cause;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };
  struct Key {
    SimTime at;
    Tie tie;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::uint64_t>{}(static_cast<std::uint64_t>(key.at.ps) * kGoldenGamma ^ key.tie);
    }
  };
  class Walk;

  std::vector<OfRank> ranks_;
  std::unordered_map<Key, Event, Hash> events_;
  std::map<Action::Run, Explain> names_;
};

}  // namespace gasmeter::sim

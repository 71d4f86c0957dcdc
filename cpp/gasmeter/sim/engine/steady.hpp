// Traffic that repeats itself, as a network describes it.
//
// A network names the parts of its state that a long transfer keeps changing. FastForward (fast_forward.hpp) finds out
// whether they come round: the same instants one period later, counters further on by a constant.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"

namespace gasmeter::sim {

struct Posted;

// Goes through a state in an order that depends on nothing but the state: writes it down, or moves it on by some
// periods. The state's owner calls the walk for each word that influences what happens next.
class StateWalk {
 public:
  // A state, written down.
  struct Record {
    SimTime now;
    std::vector<std::uint64_t> words;     // equal one period later
    std::vector<std::uint64_t> counters;  // grow by the same amount in each period
    bool complete = false;
  };

  explicit StateWalk(SimTime now, Record& record) : record_(&record), now_(now) {
    record.now = now;
    record.words.clear();
    record.counters.clear();
    record.complete = true;
  }
  // Moves the state that `later` describes, whose period began at `earlier`.
  StateWalk(const Record& earlier, const Record& later, std::uint64_t periods)
      : now_(later.now), earlier_(&earlier), later_(&later), periods_(periods) {}

  [[nodiscard]] bool is_moving() const { return later_ != nullptr; }
  [[nodiscard]] SimTime now() const { return now_; }
  // Return by how much time the state moves.
  [[nodiscard]] SimTime shift() const { return (later_->now - earlier_->now) * static_cast<std::int64_t>(periods_); }
  // Return the number of periods for which every counter stays within its limit.
  [[nodiscard]] static std::uint64_t most_periods(const Record& earlier, const Record& later,
                                                  const std::vector<std::uint64_t>& limits) {
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < limits.size(); ++i) {
      const std::uint64_t each = later.counters[i] - earlier.counters[i];
      if (limits[i] == kNoLimit || each == 0) continue;
      most = std::min(most, limits[i] < later.counters[i] ? 0 : (limits[i] - later.counters[i]) / each);
    }
    return most;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& limits() const { return limits_; }

  // Visit a word that must be the same.
  void word(std::uint64_t value) {
    if (!is_moving()) record_->words.push_back(value);
  }
  void address(const void* of) { word(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(of))); }
  // Visit an instant at which something happens, or kNever.
  void due(SimTime& at) {
    if (at == kNever) {
      word(kNoLimit);
    } else if (is_moving()) {
      at += shift();
    } else {
      word(static_cast<std::uint64_t>((at - now_).ps));
    }
  }
  // Visit an instant from which on something is free: one in the past is as good as now.
  void free_from(SimTime& at) {
    if (at == kNever || at > now_) {
      due(at);
    } else {
      word(0);
    }
  }
  // Visit a counter that influences nothing. No period is skipped in which it would exceed the limit.
  template <class Count>
  void counter(Count& count, std::uint64_t limit = kNoLimit) {
    if (is_moving()) {
      count += static_cast<Count>(periods_ * (later_->counters[place_] - earlier_->counters[place_]));
      ++place_;
    } else {
      record_->counters.push_back(static_cast<std::uint64_t>(count));
      limits_.push_back(limit);
    }
  }
  // Say that the state holds something that does not repeat itself.
  void refuse() {
    if (!is_moving()) record_->complete = false;
  }

 private:
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  Record* record_ = nullptr;
  SimTime now_;
  std::vector<std::uint64_t> limits_;
  const Record* earlier_ = nullptr;
  const Record* later_ = nullptr;
  std::uint64_t periods_ = 0;
  std::size_t place_ = 0;
};

// A network's long transfers. Called between windows, on one thread.
class SteadyTraffic {
 public:
  // Look at the transfers under way; until end() nobody but the transfers changes them. False: no transfer is long, or
  // a rank or device is told of every packet of one.
  [[nodiscard]] virtual bool begin() = 0;
  virtual void end() = 0;
  // Return for how long nothing else may happen if a look is to be worthwhile.
  [[nodiscard]] virtual SimTime worthwhile() const = 0;
  // Tell whether a posted event belongs to the transfers.
  [[nodiscard]] virtual bool is_part(const Posted& entry) const = 0;
  // Tell whether an event of the transfers is one that happens at least once a period.
  [[nodiscard]] virtual bool is_beat(const Posted& entry) const = 0;
  // Visit the transfers' state without posted events, or the state of one posted event.
  virtual void walk(StateWalk& walk) = 0;
  virtual void walk(const Posted& entry, StateWalk& walk) = 0;
  // Called when the state has moved on: apply to memory what the skipped periods would have done.
  virtual void moved() = 0;

 protected:
  SteadyTraffic() = default;
  SteadyTraffic(const SteadyTraffic&) = default;
  SteadyTraffic& operator=(const SteadyTraffic&) = default;
  ~SteadyTraffic() = default;
};

}  // namespace gasmeter::sim

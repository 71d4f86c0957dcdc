// Traffic that repeats itself, as a network describes it.
//
// A network names the parts of its state that a long transfer keeps changing, and FastForward (fast_forward.hpp) finds
// out whether they come round: the same instants, one period later, counters so much further on.
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

// Goes through a state in an order that depends on nothing but the state: writes it down, or moves it on by so many
// periods. Its owner calls it for each word that has a say in what happens next.
class StateWalk {
 public:
  // What a state came to.
  struct Record {
    SimTime now;
    std::vector<std::uint64_t> words;     // equal one period later
    std::vector<std::uint64_t> counters;  // further on by as much in each period
    bool complete = false;
  };

  explicit StateWalk(SimTime now, Record& record) : record_(&record), now_(now) {
    record.now = now;
    record.words.clear();
    record.counters.clear();
    record.complete = true;
  }
  // From what `later` says of the same state, whose period began at `earlier`.
  StateWalk(const Record& earlier, const Record& later, std::uint64_t periods)
      : now_(later.now), earlier_(&earlier), later_(&later), periods_(periods) {}

  [[nodiscard]] bool is_moving() const { return later_ != nullptr; }
  [[nodiscard]] SimTime now() const { return now_; }
  // By how much the state moves.
  [[nodiscard]] SimTime shift() const { return (later_->now - earlier_->now) * static_cast<std::int64_t>(periods_); }
  // Periods for which every counter stays within its limit.
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

  // What has to be the same.
  void word(std::uint64_t value) {
    if (!is_moving()) record_->words.push_back(value);
  }
  void address(const void* of) { word(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(of))); }
  // An instant at which something happens, or kNever.
  void due(SimTime& at) {
    if (at == kNever) {
      word(kNoLimit);
    } else if (is_moving()) {
      at += shift();
    } else {
      word(static_cast<std::uint64_t>((at - now_).ps));
    }
  }
  // An instant from which on something is free: one in the past is as good as now.
  void free_from(SimTime& at) {
    if (at == kNever || at > now_) {
      due(at);
    } else {
      word(0);
    }
  }
  // What only counts. No period is skipped in which it would come to more than the limit.
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
  // Something is in it that does not repeat itself.
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
  // Looks at what is under way now; until end() nobody but the transfers changes it. False: nothing that is long, or
  // something that every packet of it is told to.
  [[nodiscard]] virtual bool begin() = 0;
  virtual void end() = 0;
  // How long nothing else may happen for a look to be worthwhile.
  [[nodiscard]] virtual SimTime worthwhile() const = 0;
  // Whether what is posted belongs to the transfers.
  [[nodiscard]] virtual bool is_part(const Posted& entry) const = 0;
  // Of the transfers' own, what happens at least once a period.
  [[nodiscard]] virtual bool is_beat(const Posted& entry) const = 0;
  // All of the transfers' state, what is posted apart; and that of one thing that is posted.
  virtual void walk(StateWalk& walk) = 0;
  virtual void walk(const Posted& entry, StateWalk& walk) = 0;
  // The state has moved on: does to memory what has been left out.
  virtual void moved() = 0;

 protected:
  SteadyTraffic() = default;
  SteadyTraffic(const SteadyTraffic&) = default;
  SteadyTraffic& operator=(const SteadyTraffic&) = default;
  ~SteadyTraffic() = default;
};

}  // namespace gasmeter::sim

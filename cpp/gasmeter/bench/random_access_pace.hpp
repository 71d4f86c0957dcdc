// How the ranks of a job get on with their updates, and their rate while all of them are working.
//
// A whole run's rate is that of its slowest rank. Ranks drift apart, by chance or because some are better placed; the
// farther they do, the longer a run must be until starting and ending do not show. While all work, the rate is a mean
// over all ranks, which a few hundred updates of each tell to a percent or two:
//
//   done   |            ____/ rank 0 has done all: the end
//          |       ____/   :
//          |  ____/   _____:/ rank 1
//          | /  _____/     :
//          |/__/   :       :
//          +-------+-------+------ time
//          0   half of it  |
//                  updates of all ranks in this interval are counted
//
// In the first half the paths of the network fill up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/of_job.hpp"
#include "gasmeter/bench/program.hpp"

namespace gasmeter::bench::random_access {

// The pace of a job. Each rank notes its own; the rate is asked for when all have met after their last update.
class Pace {
 public:
  explicit Pace(std::uint32_t ranks) : ranks_(ranks) {}

  void begin(std::uint32_t rank, std::uint64_t updates, SimTime now) {
    Notes& notes = ranks_[rank];
    notes.stride = std::max<std::uint64_t>(1, updates / kMostNotes);
    notes.next = std::min(notes.stride, updates);
    notes.all = updates;
    notes.done = 0;
    notes.instants.assign(1, {0, now});
  }
  // Note that `count` more updates have left the rank's hands.
  void add(std::uint32_t rank, std::uint64_t count, SimTime now) {
    Notes& notes = ranks_[rank];
    notes.done += count;
    if (notes.done < notes.next) return;
    notes.instants.push_back({notes.done, now});
    notes.next = notes.done == notes.all ? kNone : std::min(notes.done + notes.stride, notes.all);
  }

  // Return the updates per second of all ranks; none where a rank has noted nothing, or too little time has passed to
  // halve.
  [[nodiscard]] std::optional<double> rate() const {
    SimTime begin{0};
    SimTime end = kNever;
    for (const Notes& notes : ranks_) {
      if (notes.instants.size() < 2 || notes.done != notes.all) return std::nullopt;
      begin = std::max(begin, notes.instants.front().at);
      end = std::min(end, notes.instants.back().at);
    }
    const SimTime middle{begin.ps + (end.ps - begin.ps) / 2};
    if (middle <= begin || end <= middle) return std::nullopt;
    double count = 0;
    for (const Notes& notes : ranks_) count += notes.done_at(end) - notes.done_at(middle);
    return count / (end - middle).seconds();
  }

 private:
  static constexpr std::uint64_t kMostNotes = 256;  // notes of a rank; between notes its pace counts as even
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  struct Instant {
    std::uint64_t done;
    SimTime at;
  };
  struct Notes {
    std::uint64_t stride = 1;
    std::uint64_t next = kNone;  // next update to be noted; none before the first begin()
    std::uint64_t all = 0;
    std::uint64_t done = 0;
    std::vector<Instant> instants;

    [[nodiscard]] double done_at(SimTime at) const {
      const auto after =
          std::partition_point(instants.begin(), instants.end(), [at](const Instant& each) { return each.at <= at; });
      if (after == instants.begin()) return 0;
      const Instant& before = after[-1];
      const auto base = static_cast<double>(before.done);
      if (after == instants.end()) return base;
      return base + static_cast<double>(after->done - before.done) * static_cast<double>((at - before.at).ps) /
                        static_cast<double>((after->at - before.at).ps);
    }
  };

  std::vector<Notes> ranks_;
};

// A rank's share of the pace; on real hosts, whose ranks do not see each other's notes, nothing.
template <class Host>
class Pacer {
 public:
  Pacer(const Host& host, std::uint32_t rank, std::uint32_t ranks) : rank_(rank) {
    if constexpr (Host::kModelled) pace_ = of_job<Pace>(&host.engine(), ranks);
  }

  void begin(const Host& host, std::uint64_t updates) {
    if constexpr (Host::kModelled) pace_->begin(rank_, updates, host.now());
  }
  GASMETER_INLINE void add(const Host& host, std::uint64_t count) {
    if constexpr (Host::kModelled) pace_->add(rank_, count, host.now());
  }
  // Add the rate, after all ranks have met.
  void add_rate(BlockResult& result) const {
    if constexpr (Host::kModelled) {
      if (rank_ != 0) return;
      if (const auto rate = pace_->rate()) result.metrics.emplace_back("steady_gups", *rate * 1e-9);
    }
  }

 private:
  std::uint32_t rank_;
  std::shared_ptr<Pace> pace_;  // null on real hosts
};

}  // namespace gasmeter::bench::random_access

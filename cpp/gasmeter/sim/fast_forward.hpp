// Lets long transfers pass at once where nothing else happens.
//
// Between two windows, where all that is posted for some while belongs to long transfers, their events happen here, one
// after the other in the order of time, until the whole of their state is what it was one period before: so it will be
// after each further period, as nothing reaches it from outside. All of it is then moved on by as many periods as end
// before anything else happens and before a transfer's last packets, and posted again. No picosecond differs from what
// the events would have come to.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/partition.hpp"
#include "gasmeter/sim/steady.hpp"

namespace gasmeter::sim {

class FastForward {
 public:
  FastForward(std::vector<Node>& nodes, std::deque<Partition>& partitions) : nodes_(nodes), partitions_(partitions) {}

  // Whose transfers they are; null: nobody's.
  void set_traffic(SteadyTraffic* traffic) { traffic_ = traffic; }
  // Transfers that are worth a look, so many more or less. Of any thread.
  void count_long(int more) { long_.fetch_add(more, std::memory_order_relaxed); }
  void allow(bool allowed) { is_allowed_ = allowed; }
  [[nodiscard]] bool has_long() const {
    return long_.load(std::memory_order_relaxed) > 0 && is_allowed_ && traffic_ != nullptr;
  }

  // Between windows, while a body is live. Whether anything has happened.
  [[nodiscard]] bool run();

 private:
  static constexpr std::size_t kLongestPeriod = 8;   // beats
  static constexpr unsigned kMostBeats = 128;        // without a period, and windows take over again
  static constexpr std::size_t kMostEntries = 4096;  // of transfers, at a time
  // Windows between two looks: a look at transfers alone costs next to nothing, one in which they happen is dear.
  static constexpr unsigned kLongestPatience = 1024;
  static constexpr unsigned kShortPatience = 64;

  struct Later {
    bool operator()(const Partition::Loose& a, const Partition::Loose& b) const { return before(b, a); }
  };
  [[nodiscard]] static bool before(const Partition::Loose& a, const Partition::Loose& b) {
    if (a.at != b.at) return a.at < b.at;
    return a.entry.node() != b.entry.node() ? a.entry.node() < b.entry.node() : a.tie < b.tie;
  }

  [[nodiscard]] bool is_alone();
  [[nodiscard]] bool let_happen();
  [[nodiscard]] bool has_come_round();
  void walk(StateWalk& walk);
  void fire();
  void take_posted();
  void put_back();

  std::vector<Node>& nodes_;
  std::deque<Partition>& partitions_;
  SteadyTraffic* traffic_ = nullptr;
  std::atomic<int> long_{0};
  bool is_allowed_ = true;
  std::vector<Partition::Loose> loose_;  // of the transfers, as a heap
  std::vector<Partition::Loose> posted_;
  std::vector<Partition::Loose> others_;
  SimTime others_from_ = kNever;  // the first instant at which something else happens
  std::array<StateWalk::Record, kLongestPeriod + 1> records_;
  std::size_t beats_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> numbers_;  // of nodes' next events
  std::uint32_t loose_now_ = 0;                                   // the node of what has just happened
  unsigned windows_ = 0;                                          // since the last look
  unsigned patience_ = 1;
};

}  // namespace gasmeter::sim

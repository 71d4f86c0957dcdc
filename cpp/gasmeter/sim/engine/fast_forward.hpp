// Lets long transfers pass at once where nothing else happens.
//
// Between two windows, all that is posted for some while may belong to long transfers. Their events then happen here,
// in the order of time, until their whole state is what it was one period before. Each further period repeats it, as
// nothing reaches it from outside. All state is then moved on by as many periods as end before anything else happens
// and before a transfer's last packets, and is posted again. No picosecond differs from what the events would have
// given.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/engine/partition.hpp"
#include "gasmeter/sim/engine/steady.hpp"

namespace gasmeter::sim {

class FastForward {
 public:
  FastForward(std::vector<Node>& nodes, std::deque<Partition>& partitions) : nodes_(nodes), partitions_(partitions) {}

  // Set the owner of the transfers; null: nobody.
  void set_traffic(SteadyTraffic* traffic) { traffic_ = traffic; }
  // Count transfers that are worth a look, `more` up or down. Any thread may call this.
  void count_long(int more) { long_.fetch_add(more, std::memory_order_relaxed); }
  void allow(bool allowed) { is_allowed_ = allowed; }
  [[nodiscard]] bool has_long() const {
    return long_.load(std::memory_order_relaxed) > 0 && is_allowed_ && traffic_ != nullptr;
  }

  // Run between windows, while a body is live; tell whether anything has happened.
  [[nodiscard]] bool run();

 private:
  static constexpr std::size_t kLongestPeriod = 8;   // in beats: SteadyTraffic::is_beat()
  static constexpr unsigned kMostBeats = 128;        // without a period; windows then take over again
  static constexpr std::size_t kMostEntries = 4096;  // events of transfers, at a time
  // Windows between two looks: a look at transfers alone costs next to nothing, a look in which they happen is dear.
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
  std::vector<Partition::Loose> loose_;  // events of the transfers, as a heap
  std::vector<Partition::Loose> posted_;
  std::vector<Partition::Loose> others_;
  SimTime others_from_ = kNever;  // the first instant at which something else happens
  std::array<StateWalk::Record, kLongestPeriod + 1> records_;
  std::size_t beats_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> numbers_;  // next event numbers of nodes
  std::uint32_t loose_now_ = 0;                                   // the node of the last event
  unsigned windows_ = 0;                                          // since the last look
  unsigned patience_ = 1;
};

}  // namespace gasmeter::sim

// Completions in host memory, in the order in which the adapter writes them.
#pragma once

#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/ibv/work.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/engine.hpp"

namespace gasmeter::networks::ibv {

// Of one rank, and touched on its node only.
class CompletionQueue : private sim::Action {
 public:
  CompletionQueue(sim::Engine& engine, NodeId node, Rank owner)
      : sim::Action(&CompletionQueue::on_due), engine_(engine), node_(node), owner_(owner) {}

  // ---- the adapter's side
  // Software sees it at `at`, or with what was written before if that is later, and is woken. Throws UsageError where
  // software has left no room for it: a real queue pair would fail, too.
  void write(const WorkCompletion& completion, SimTime at);

  // ---- software's
  void set_capacity(std::size_t entries) { capacity_ = entries; }
  [[nodiscard]] bool empty() const { return first_ == seen_; }
  [[nodiscard]] WorkCompletion take();
  [[nodiscard]] std::size_t deepest() const { return deepest_; }
  [[nodiscard]] Bytes reserved_bytes() const { return capacity_ * kCompletionEntry; }

 private:
  struct Entry {
    WorkCompletion completion;
    SimTime at;
  };

  static void on_due(sim::Action& self, SimTime now);

  sim::Engine& engine_;
  NodeId node_;
  Rank owner_;
  std::size_t capacity_ = 1024;
  std::size_t deepest_ = 0;
  std::vector<Entry> entries_;  // from first_ on
  std::size_t first_ = 0;
  std::size_t seen_ = 0;  // up to here software sees them
};

}  // namespace gasmeter::networks::ibv

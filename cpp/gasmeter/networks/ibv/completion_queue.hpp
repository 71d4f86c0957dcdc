// Completions in host memory, in the order in which the adapter writes them.
#pragma once

#include <cstddef>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/ibv/work.hpp"
#include "gasmeter/services/event_queue.hpp"

namespace gasmeter::networks::ibv {

// Completion queue of one rank, touched on its node only.
class CompletionQueue {
 public:
  CompletionQueue(sim::Engine& engine, NodeId node, Rank owner) : owner_(owner), written_(engine, node, owner) {}

  // ---- the adapter's side
  // Write a completion. Software sees it at `at`, or with the completions before it if those come later, and is woken.
  // Throws UsageError if software has left no room for it: a real queue pair would fail, too.
  void write(const WorkCompletion& completion, SimTime at);

  // ---- software's side
  void set_capacity(std::size_t entries) { capacity_ = entries; }
  [[nodiscard]] bool empty() const { return written_.empty(); }
  [[nodiscard]] WorkCompletion take() { return written_.take(); }
  [[nodiscard]] Bytes reserved_bytes() const { return capacity_ * kCompletionEntry; }

 private:
  Rank owner_;
  std::size_t capacity_ = 1024;
  services::EventQueue<WorkCompletion> written_;
};

}  // namespace gasmeter::networks::ibv

// Locks at one rank each, which hands them on in the order in which they were asked for [UPC: upc_lock_t].
//
// Who gives a lock back is told by its home who is next, and tells that one: handlers answer whom they were asked by,
// and nobody else.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/pgas/directory/handle.hpp"
#include "gasmeter/pgas/space_state.hpp"

namespace gasmeter::pgas {

template <class H>
class Locks {
 public:
  explicit Locks(SpaceState<H>& state);
  Locks(const Locks&) = delete;
  Locks& operator=(const Locks&) = delete;

  // `lock`: an object that has been allocated for it, of any size; its home is the only owner, or rank 0.
  void lock(Handle lock);
  [[nodiscard]] bool try_lock(Handle lock);  // [UPC: upc_lock_attempt]
  void unlock(Handle lock);

 private:
  using Token = core::Token<H>;
  static constexpr std::uint32_t kNobody = 0xffffffffU;
  enum class Answer : std::uint32_t { pending, granted, later, taken, next, nobody, not_held };

  struct Queue {
    std::uint32_t holder = kNobody;
    std::deque<std::uint32_t> waiting;
  };

  // Throws UsageError for what is not there.
  [[nodiscard]] Rank home(Handle lock, const char* call) const;
  Answer ask(Rank at, Handle lock, HandlerIndex handler, bool waits);

  static void on_lock(Token& token);
  static void on_answer(Token& token);
  static void on_unlock(Token& token);
  static void on_grant(Token& token);

  SpaceState<H>& state_;
  std::unordered_map<std::uint64_t, Queue> queues_;  // of those whose home is here
  Answer answer_ = Answer::pending;
  std::uint32_t next_ = kNobody;
  std::uint32_t grants_ = 0;  // of locks that this rank has waited for
};

}  // namespace gasmeter::pgas

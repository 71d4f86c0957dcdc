// Locks, each at a home rank, which grants them in the order of requests [UPC: upc_lock_t].
//
// When a rank unlocks, the home answers with the next holder, and the unlocking rank sends the grant to it. A handler
// may only answer the rank that sent its message.
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

  // `lock` is any object allocated for this purpose, of any size. Its home is its only owner, or rank 0.
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

  // Return the home of a lock. Throw UsageError for an object that is not there.
  [[nodiscard]] Rank home(Handle lock, const char* call) const;
  Answer ask(Rank at, Handle lock, HandlerIndex handler, bool waits);

  static void on_lock(Token& token);
  static void on_answer(Token& token);
  static void on_unlock(Token& token);
  static void on_grant(Token& token);

  SpaceState<H>& state_;
  std::unordered_map<std::uint64_t, Queue> queues_;  // locks whose home is this rank
  Answer answer_ = Answer::pending;
  std::uint32_t next_ = kNobody;
  std::uint32_t grants_ = 0;  // grants received of locks that this rank waits for
};

}  // namespace gasmeter::pgas

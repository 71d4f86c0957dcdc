// What ranks tell each other of their objects, so that every replica of the directory knows them: that one has been
// made, that it is no longer, that its memory may be used again. Each is acknowledged, so that a handle that is handed
// on is known wherever it gets to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/pgas/space_state.hpp"

namespace gasmeter::pgas {

template <class H>
class Notices {
 public:
  explicit Notices(SpaceState<H>& state);
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;

  // Makes an object of this rank's partition known everywhere: of parts at all ranks, or at this one.
  Handle make(Bytes part, bool everywhere);
  // Of any object, by any one rank. All caches have lost it before anybody gives its memory back.
  void free(Handle object);
  // This rank's replica and cache forget it. False: it was not there.
  [[nodiscard]] bool forget(Handle object);
  // What has been forgotten: its pins go and its part's memory; that of what all have made waits until all meet.
  void release(Handle object);
  // ... which they have.
  void give_back_common();

 private:
  using Token = core::Token<H>;
  enum class Answer : std::uint32_t { done, no_room, not_there };
  static constexpr std::size_t kWords = 7;  // of a notice: handle, owner, bytes of a part, where it lies

  // Who decides what becomes of a partition's objects: its writer, and rank 0 for what all have made.
  [[nodiscard]] Rank decider(Handle object) const;
  // Tells all others but one (or this rank: all others) and waits until they have answered; whether one could not.
  Answer tell_others(HandlerIndex handler, Handle object, Rank but, Bytes part, std::uint32_t owner, Bytes base);
  Answer ask(Rank rank, HandlerIndex handler, Handle object);
  void send(Rank to, HandlerIndex handler, Handle object, Bytes part, std::uint32_t owner, Bytes base);
  void wait_for_answers();
  [[noreturn]] void refuse_freed(Handle object) const;

  static void on_make(Token& token);
  static void on_ask_to_free(Token& token);
  static void on_invalidate(Token& token);
  static void on_release(Token& token);
  static void on_noted(Token& token);

  SpaceState<H>& state_;
  std::uint32_t awaited_ = 0;  // answers
  Answer worst_ = Answer::done;
  std::vector<Handle> common_;  // of what all had made: released, and not given back
};

}  // namespace gasmeter::pgas

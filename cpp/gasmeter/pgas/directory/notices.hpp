// Notices by which every replica of the directory learns of objects: made, gone, and memory free again. Each notice is
// acknowledged before its call returns. Any rank that receives a handle therefore knows its object.
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

  // Make an object of this rank's partition, with parts at all ranks or at this one, and announce it to all ranks.
  Handle make(Bytes part, bool everywhere);
  // Free any object; one rank calls it. All caches drop the object before any rank gives its memory back.
  void free(Handle object);
  // Remove the object from this rank's replica and cache. Return false if it was not there.
  [[nodiscard]] bool forget(Handle object);
  // Release a forgotten object: its pins and its part's memory. The memory of a collective object waits for
  // give_back_common().
  void release(Handle object);
  // Give back the memory of collective objects. Called when all ranks have met.
  void give_back_common();

 private:
  using Token = core::Token<H>;
  enum class Answer : std::uint32_t { done, no_room, not_there };
  static constexpr std::size_t kWords = 7;  // words of a notice: handle, owner, bytes of a part, its offset

  // Return the rank that decides about an object: its partition's writer, or rank 0 for collective objects.
  [[nodiscard]] Rank decider(Handle object) const;
  // Send a notice to all other ranks except `but` (this rank: no exception) and wait for their answers. Return the
  // worst answer.
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
  std::uint32_t awaited_ = 0;  // missing answers
  Answer worst_ = Answer::done;
  std::vector<Handle> common_;  // collective objects, released but not yet given back
};

}  // namespace gasmeter::pgas

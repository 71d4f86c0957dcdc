#include "gasmeter/pgas/directory/notices.hpp"

#include <algorithm>
#include <mutex>
#include <string>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/incoming.hpp"
#include "gasmeter/core/library_handlers.hpp"
#include "gasmeter/core/word_halves.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::pgas {

namespace spaces = core::spaces;

template <class H>
Notices<H>::Notices(SpaceState<H>& state) : state_(state) {
  auto& handlers = core::internals(state.endpoint).handlers();
  handlers.add({spaces::kMake, &on_make, this, "a shared object has been made"});
  handlers.add({spaces::kAskToFree, &on_ask_to_free, this, "a shared object is to be freed"});
  handlers.add({spaces::kInvalidate, &on_invalidate, this, "a shared object is no longer"});
  handlers.add({spaces::kRelease, &on_release, this, "a shared object's memory may be used again"});
  handlers.add({spaces::kNoted, &on_noted, this, "a notice has been taken"});
}

template <class H>
Rank Notices<H>::decider(Handle object) const {
  return Rank{object.partition == state_.directory.all() ? 0 : object.partition};
}

// ---- calls of this rank

template <class H>
Handle Notices<H>::make(Bytes part, bool everywhere) {
  const Rank me = state_.endpoint.rank();
  Handle object;
  Bytes base = kNowhere;
  const std::uint32_t owner = everywhere ? kEveryRank : index(me);
  {
    const std::lock_guard guard(state_.lock);
    const std::optional<Bytes> taken = state_.parts.take_own(part);
    if (!taken) {
      throw UsageError("rank " + std::to_string(index(me)) + ": shared object of " + std::to_string(part) +
                       " bytes; its segment of " + std::to_string(state_.endpoint.segment().size) + " bytes has " +
                       std::to_string(state_.parts.left()) + " left");
    }
    base = *taken;
    object = state_.directory.next(index(me));
    state_.directory.add(object, {part, base, owner});
  }
  if (tell_others(spaces::kMake, object, me, part, owner, base) == Answer::done) return object;
  free(object);
  throw UsageError("rank " + std::to_string(index(me)) + ": shared object with " + std::to_string(part) +
                   " bytes at every rank; another rank's segment has no room for them");
}

template <class H>
void Notices<H>::free(Handle object) {
  const Rank me = state_.endpoint.rank();
  const Rank decides = decider(object);
  if (object.partition > state_.directory.all()) refuse_freed(object);
  // The partition's writer decides whether the object is there: if two ranks free it, one is refused.
  if (decides != me && ask(decides, spaces::kAskToFree, object) != Answer::done) refuse_freed(object);
  if (!forget(object)) refuse_freed(object);
  (void)tell_others(spaces::kInvalidate, object, me, 0, 0, 0);
  // The writer is told last, since it may take the slot again at once.
  (void)tell_others(spaces::kRelease, object, decides, 0, 0, 0);
  if (decides != me) {
    release(object);
    (void)ask(decides, spaces::kRelease, object);
  } else {
    release(object);
  }
}

template <class H>
bool Notices<H>::forget(Handle object) {
  const std::lock_guard guard(state_.lock);
  if (!state_.directory.invalidate(object)) return false;
  state_.counters.invalidations += state_.cache.erase(object.bits());
  return true;
}

template <class H>
void Notices<H>::release(Handle object) {
  const std::lock_guard guard(state_.lock);
  state_.pinned.release(object.bits());
  if (object.partition == state_.directory.all()) {
    common_.push_back(object);
    return;
  }
  const Object was = state_.directory.release(object);
  if (was.has_part(state_.endpoint.rank()) && was.base != kNowhere) state_.parts.give_back(was.base, was.part);
}

// Give back the memory of collective objects, in one order at all ranks, so that the next parts have equal offsets
// again.
template <class H>
void Notices<H>::give_back_common() {
  const std::lock_guard guard(state_.lock);
  std::sort(common_.begin(), common_.end(), [](Handle a, Handle b) { return a.bits() < b.bits(); });
  for (const Handle object : common_) {
    const Object was = state_.directory.release(object);
    state_.parts.give_back(was.base, was.part);
  }
  common_.clear();
}

template <class H>
void Notices<H>::refuse_freed(Handle object) const {
  throw UsageError("rank " + std::to_string(index(state_.endpoint.rank())) + ": free of " +
                   name_of(object, state_.directory.ranks()) + ", which was freed, or never made");
}

// ---- messages

template <class H>
void Notices<H>::send(Rank to, HandlerIndex handler, Handle object, Bytes part, std::uint32_t owner, Bytes base) {
  (void)state_.endpoint.request_short(to, handler, core::Flags::none, static_cast<std::int32_t>(object.partition),
                                      static_cast<std::int32_t>(object.index), static_cast<std::int32_t>(owner),
                                      core::low(part), core::high(part), core::low(base), core::high(base));
}

template <class H>
typename Notices<H>::Answer Notices<H>::tell_others(HandlerIndex handler, Handle object, Rank but, Bytes part,
                                                    std::uint32_t owner, Bytes base) {
  const Rank me = state_.endpoint.rank();
  worst_ = Answer::done;
  const std::uint32_t ranks = state_.endpoint.ranks();
  awaited_ = ranks - 1 - (but != me ? 1 : 0);
  for (std::uint32_t i = 1; i < ranks; ++i) {
    const Rank to{(index(me) + i) % ranks};
    if (to != but) send(to, handler, object, part, owner, base);
  }
  wait_for_answers();
  return worst_;
}

template <class H>
typename Notices<H>::Answer Notices<H>::ask(Rank rank, HandlerIndex handler, Handle object) {
  worst_ = Answer::done;
  awaited_ = 1;
  send(rank, handler, object, 0, 0, 0);
  wait_for_answers();
  return worst_;
}

template <class H>
void Notices<H>::wait_for_answers() {
  state_.endpoint.wait_until([this] { return std::atomic_ref(awaited_).load(std::memory_order_acquire) == 0; });
}

template <class H>
void Notices<H>::on_make(Token& token) {
  const core::Incoming<H> message(token);
  message.expect_form(core::Category::short_message, core::Incoming<H>::Sent::request, kWords);
  auto& self = token.template context_as<Notices>();
  SpaceState<H>& state = self.state_;
  const Handle object{message.word(0), message.word(1)};
  message.expect(object.partition == index(token.source()), "a partition has one writer, and that is another rank");
  Object record{message.wide(3), kNowhere, message.word(2)};
  message.expect(record.owner == kEveryRank || record.owner == object.partition,
                 "an object of a rank that did not make it");
  message.expect(record.part <= kMostBytes, "an object of more bytes than there are");
  Answer answer = Answer::done;
  {
    const std::lock_guard guard(state.lock);
    if (record.owner == kEveryRank) {
      const std::optional<Bytes> taken = state.parts.take_own(record.part);
      if (taken) record.base = *taken;
      if (!taken) answer = Answer::no_room;
    } else if (state.is_near(token.source())) {
      record.base = message.wide(5);
      const Bytes room = state.endpoint.segment(token.source()).size;
      message.expect(record.base <= room && record.part <= room - record.base, "it names memory outside its segment");
    }
    state.directory.add(object, record);
  }
  (void)token.reply_short(spaces::kNoted, static_cast<std::int32_t>(answer));
}

template <class H>
void Notices<H>::on_ask_to_free(Token& token) {
  const core::Incoming<H> message(token);
  message.expect_form(core::Category::short_message, core::Incoming<H>::Sent::request, kWords);
  auto& self = token.template context_as<Notices>();
  const bool was_there = self.forget({message.word(0), message.word(1)});
  (void)token.reply_short(spaces::kNoted, static_cast<std::int32_t>(was_there ? Answer::done : Answer::not_there));
}

// Handle the notice that an object is gone. The rank that decided it has forgotten the object already.
template <class H>
void Notices<H>::on_invalidate(Token& token) {
  const core::Incoming<H> message(token);
  message.expect_form(core::Category::short_message, core::Incoming<H>::Sent::request, kWords);
  auto& self = token.template context_as<Notices>();
  (void)self.forget({message.word(0), message.word(1)});
  (void)token.reply_short(spaces::kNoted, static_cast<std::int32_t>(Answer::done));
}

template <class H>
void Notices<H>::on_release(Token& token) {
  const core::Incoming<H> message(token);
  message.expect_form(core::Category::short_message, core::Incoming<H>::Sent::request, kWords);
  auto& self = token.template context_as<Notices>();
  self.release({message.word(0), message.word(1)});
  (void)token.reply_short(spaces::kNoted, static_cast<std::int32_t>(Answer::done));
}

template <class H>
void Notices<H>::on_noted(Token& token) {
  const core::Incoming<H> message(token);
  message.expect_form(core::Category::short_message, core::Incoming<H>::Sent::reply, 1);
  auto& self = token.template context_as<Notices>();
  message.expect(self.awaited_ != 0, "it answers a notice of which no answer is missing");
  const auto answer = static_cast<Answer>(message.word(0));
  message.expect(answer <= Answer::not_there, "there is no such answer");
  if (answer != Answer::done) self.worst_ = answer;
  std::atomic_ref(self.awaited_).fetch_sub(1, std::memory_order_release);
}

template class Notices<RealHost>;
template class Notices<ThreadedHost>;
template class Notices<StampedHost>;
template class Notices<sim::ModelHost>;

}  // namespace gasmeter::pgas

#include "gasmeter/pgas/locks.hpp"

#include <atomic>
#include <mutex>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/incoming.hpp"
#include "gasmeter/core/library_handlers.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::pgas {

namespace spaces = core::spaces;

template <class H>
Locks<H>::Locks(SpaceState<H>& state) : state_(state) {
  auto& handlers = core::internals(state.endpoint).handlers();
  handlers.add({spaces::kLock, &on_lock, this, "lock"});
  handlers.add({spaces::kLockAnswer, &on_answer, this, "answer to a lock"});
  handlers.add({spaces::kUnlock, &on_unlock, this, "unlock"});
  handlers.add({spaces::kUnlockAnswer, &on_answer, this, "answer to an unlock"});
  handlers.add({spaces::kGrant, &on_grant, this, "a lock is handed on"});
}

template <class H>
Rank Locks<H>::home(Handle lock, const char* call) const {
  const std::lock_guard guard(state_.lock);
  const Object* const object = state_.directory.find(lock);
  if (object == nullptr) {
    throw UsageError("rank " + std::to_string(index(state_.endpoint.rank())) + ": " + call + " of " +
                     name_of(lock, state_.directory.ranks()) + ", which was freed, or never made");
  }
  return Rank{object->owner == kEveryRank ? 0 : object->owner};
}

template <class H>
typename Locks<H>::Answer Locks<H>::ask(Rank at, Handle lock, HandlerIndex handler, bool waits) {
  std::atomic_ref(answer_).store(Answer::pending, std::memory_order_relaxed);
  (void)state_.endpoint.request_short(at, handler, core::Flags::none, static_cast<std::int32_t>(lock.partition),
                                      static_cast<std::int32_t>(lock.index), waits ? 1 : 0);
  state_.endpoint.wait_until(
      [this] { return std::atomic_ref(answer_).load(std::memory_order_acquire) != Answer::pending; });
  return answer_;
}

template <class H>
void Locks<H>::lock(Handle lock) {
  if (ask(home(lock, "lock"), lock, spaces::kLock, true) == Answer::granted) return;
  state_.endpoint.wait_until([this] { return std::atomic_ref(grants_).load(std::memory_order_acquire) != 0; });
  grants_ = 0;
}

template <class H>
bool Locks<H>::try_lock(Handle lock) {
  return ask(home(lock, "try_lock"), lock, spaces::kLock, false) == Answer::granted;
}

template <class H>
void Locks<H>::unlock(Handle lock) {
  const Answer answer = ask(home(lock, "unlock"), lock, spaces::kUnlock, false);
  if (answer == Answer::not_held) {
    throw UsageError("rank " + std::to_string(index(state_.endpoint.rank())) + ": unlock of " +
                     name_of(lock, state_.directory.ranks()) + ", which it does not hold");
  }
  if (answer == Answer::next) {
    (void)state_.endpoint.request_short(Rank{next_}, spaces::kGrant, core::Flags::none);
  }
}

// ---- at the lock's home

template <class H>
void Locks<H>::on_lock(Token& token) {
  const core::Incoming<H> message(token);
  message.expect_form(core::Category::short_message, core::Incoming<H>::Sent::request, 3);
  auto& self = token.template context_as<Locks>();
  const Handle lock{message.word(0), message.word(1)};
  Answer answer = Answer::taken;
  {
    const std::lock_guard guard(self.state_.lock);
    if (self.state_.directory.find(lock) == nullptr) {
      message.refuse(name_of(lock, self.state_.directory.ranks()) + " was freed, or never made");
    }
    Queue& queue = self.queues_[lock.bits()];
    if (queue.holder == kNobody) {
      queue.holder = index(token.source());
      answer = Answer::granted;
    } else if (message.word(2) != 0) {
      message.expect(queue.holder != index(token.source()), "it holds that lock already");
      queue.waiting.push_back(index(token.source()));
      answer = Answer::later;
    }
  }
  (void)token.reply_short(spaces::kLockAnswer, static_cast<std::int32_t>(answer), 0);
}

// Hand the lock on. The first waiting rank holds it from now on, although it has not been told yet.
template <class H>
void Locks<H>::on_unlock(Token& token) {
  const core::Incoming<H> message(token);
  message.expect_form(core::Category::short_message, core::Incoming<H>::Sent::request, 3);
  auto& self = token.template context_as<Locks>();
  const Handle lock{message.word(0), message.word(1)};
  Answer answer = Answer::not_held;
  std::uint32_t next = kNobody;
  {
    const std::lock_guard guard(self.state_.lock);
    const auto lock_queue = self.queues_.find(lock.bits());
    if (lock_queue != self.queues_.end() && lock_queue->second.holder == index(token.source())) {
      Queue& queue = lock_queue->second;
      if (queue.waiting.empty()) {
        self.queues_.erase(lock_queue);
        answer = Answer::nobody;
      } else {
        next = queue.holder = queue.waiting.front();
        queue.waiting.pop_front();
        answer = Answer::next;
      }
    }
  }
  (void)token.reply_short(spaces::kUnlockAnswer, static_cast<std::int32_t>(answer), static_cast<std::int32_t>(next));
}

// ---- at the rank that asked

template <class H>
void Locks<H>::on_answer(Token& token) {
  const core::Incoming<H> message(token);
  message.expect_form(core::Category::short_message, core::Incoming<H>::Sent::reply, 2);
  auto& self = token.template context_as<Locks>();
  const auto answer = static_cast<Answer>(message.word(0));
  message.expect(answer != Answer::pending && answer <= Answer::not_held, "there is no such answer");
  message.expect(answer != Answer::next || message.word(1) < self.state_.endpoint.ranks(), "there is no such rank");
  self.next_ = message.word(1);
  std::atomic_ref(self.answer_).store(answer, std::memory_order_release);
}

template <class H>
void Locks<H>::on_grant(Token& token) {
  const core::Incoming<H> message(token);
  message.expect_form(core::Category::short_message, core::Incoming<H>::Sent::request, 0);
  std::atomic_ref(token.template context_as<Locks>().grants_).fetch_add(1, std::memory_order_release);
}

template class Locks<RealHost>;
template class Locks<ThreadedHost>;
template class Locks<StampedHost>;
template class Locks<sim::ModelHost>;

}  // namespace gasmeter::pgas

// Handler-safe locks: handlers and other code take them in turn, and checked builds verify the rules.
#include <mutex>
#include <string>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/core/handler_lock.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

using core::HandlerLock;

template <class H>
struct Guarded {
  explicit Guarded(Member<H>& member) : me(member), lock(member.endpoint, "counts"), other(member.endpoint, "other") {}
  Member<H>& me;
  HandlerLock<H> lock;
  HandlerLock<H> other;
  std::array<HandlerIndex, 2> handlers{};
  std::uint64_t count = 0;  // guarded by the lock
  std::uint64_t replies = 0;

  static void on_request(core::Token<H>& token) {
    auto& self = token.template context_as<Guarded>();
    {
      const std::lock_guard guard(self.lock);
      const std::lock_guard inner(self.other);
      ++self.count;
    }
    (void)token.reply_short(self.handlers[1]);
  }
  static void on_reply(core::Token<H>& token) {
    auto& self = token.template context_as<Guarded>();
    if (self.lock.try_lock()) {
      ++self.replies;
      self.lock.unlock();
    }
  }
};

template <class H>
void handlers_and_callers_take_turns(Member<H>& me) {
  Guarded<H> state(me);
  state.handlers = register_all<H>(me.endpoint, &state, {&Guarded<H>::on_request, &Guarded<H>::on_reply});
  me.endpoint.barrier();
  const std::uint64_t count = rounds(50);
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::uint32_t peer = 0; peer < me.ranks(); ++peer) {
      EXPECT(me, me.endpoint.request_short(Rank{peer}, state.handlers[0], Flags::none) == Status::ok);
    }
    state.lock.lock();
    ++state.count;
    state.lock.unlock();
    EXPECT(me, state.lock.try_lock());
    ++state.count;
    state.lock.unlock();
  }
  const std::uint64_t all = count * me.ranks();
  me.endpoint.wait_until([&] { return state.count == all + 2 * count && state.replies == all; });
  me.endpoint.barrier();
  EXPECT(me, state.count == all + 2 * count);
}

// Break every rule of a lock. In release builds the case is empty.
template <class H>
void misused_locks_are_diagnosed(Member<H>& me) {
  if constexpr (core::kChecked) {
    struct State : Guarded<H> {
      using Guarded<H>::Guarded;
      unsigned handled = 0;
    } state(me);
    const std::string rank_text = "rank " + std::to_string(me.self());
    const auto refused = [&](auto&& call, const std::string& named) {
      try {
        call();
      } catch (const UsageError& error) {
        const std::string text = error.what();
        return text.find(named) != std::string::npos && text.find(rank_text) != std::string::npos;
      }
      return false;
    };
    state.handlers = register_all<H>(me.endpoint, static_cast<Guarded<H>*>(&state),
                                     {[](core::Token<H>& token) {
                                        auto& self = token.template context_as<Guarded<H>>();
                                        self.lock.lock();
                                        bool diagnosed = false;
                                        try {
                                          (void)token.reply_short(self.handlers[1]);
                                        } catch (const UsageError&) {
                                          diagnosed = true;
                                        }
                                        EXPECT(self.me, diagnosed);
                                        if (token.arguments().empty())
                                          self.lock.unlock();  // otherwise the handler returns with the lock held
                                        ++self.replies;
                                      },
                                      [](core::Token<H>&) {}});
    me.endpoint.barrier();
    me.meet();
    core::Endpoint<H>& ep = me.endpoint;
    std::byte* const remote = ep.segment(me.next()).address;
    std::uint64_t word = 0;
    EXPECT(me, refused([&] { state.lock.unlock(); }, "does not hold"));
    state.lock.lock();
    EXPECT(me, refused([&] { state.lock.lock(); }, "do not nest"));
    EXPECT(me, refused([&] { (void)state.lock.try_lock(); }, "'counts'"));
    EXPECT(me, refused([&] { (void)ep.poll(); }, "handler-safe lock held"));
    EXPECT(me, refused([&] { ep.put(me.next(), remote, &word, 8); }, "put with a handler-safe lock held"));
    EXPECT(me, refused([&] { (void)ep.request_short(me.next(), state.handlers[1], Flags::none); }, "request_short"));
    state.other.lock();
    EXPECT(me, refused([&] { state.lock.unlock(); }, "another order"));
    state.other.unlock();
    state.lock.unlock();
    (void)ep.poll();  // allowed again

    // In handlers no reply is sent with a lock held, and none is held at the end. The rank sends to itself, so that
    // exceptions are thrown here.
    (void)ep.request_short(ep.rank(), state.handlers[0], Flags::none);
    ep.wait_until([&] { return state.replies == 1; });
    unsigned diagnosed = 0;
    const auto attempt = [&](auto&& call) {
      diagnosed += refused(call, "returned with a handler-safe lock") ? 1U : 0U;
    };
    attempt([&] { (void)ep.request_short(ep.rank(), state.handlers[0], Flags::none, 1); });
    while (diagnosed == 0) {
      attempt([&] { (void)ep.poll(); });
      me.linger(1);
    }
    EXPECT(me, state.replies == 2);
    me.meet();
    ep.barrier();
  } else {
    (void)me;
  }
}

}  // namespace

template <class H>
Cases<H> lock_cases() {
  return {{"handlers_and_callers_take_turns", &handlers_and_callers_take_turns<H>},
          {"misused_locks_are_diagnosed", &misused_locks_are_diagnosed<H>}};
}

template Cases<RealHost> lock_cases();
template Cases<ThreadedHost> lock_cases();
template Cases<sim::ModelHost> lock_cases();

}  // namespace gasmeter::conformance

// Misuse and failing handlers: one exception at the caller or the poll, and all other work continues.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

// Counts the exceptions thrown by polls, including those inside a request that had to wait.
template <class Exception>
class Polls {
 public:
  [[nodiscard]] unsigned exceptions() const { return exceptions_; }

  template <class H>
  void send(Member<H>& me, Rank to, const Message& message) {
    bool sent = false;
    while (!sent) {
      sent = !escapes([&] { (void)send_request(me.endpoint, to, message); });
    }
  }
  template <class H, class Done>
  void until(Member<H>& me, Done done) {
    while (!done()) {
      if (!escapes([&] { me.endpoint.poll(); })) me.linger(1);
    }
  }

 private:
  template <class Call>
  bool escapes(Call call) {
    const bool thrown = throws<Exception>(call);
    exceptions_ += thrown ? 1U : 0U;
    return thrown;
  }
  unsigned exceptions_ = 0;
};

template <class H>
void message_to_an_unregistered_handler_is_an_error_at_the_receiver(Member<H>& me) {
  constexpr HandlerIndex kNobody{200};
  constexpr unsigned kMessages = 3;
  std::uint64_t arrived = 0;
  const auto handlers = register_all<H>(me.endpoint, &arrived,
                                        {[](core::Token<H>& token) { ++token.template context_as<std::uint64_t>(); }});
  me.endpoint.barrier();
  for (const Category category : kCategories) {
    me.meet();  // an exception must not reach a rank that is still in a barrier
    Polls<UsageError> polls;
    const std::uint64_t before = arrived;
    for (unsigned i = 0; i < kMessages; ++i) {
      Message m{category, kNobody, {1, 2, 3}};
      m.destination = me.endpoint.segment(me.next()).address;
      polls.send(me, me.next(), m);
    }
    polls.send(me, me.next(), {Category::short_message, handlers[0]});
    polls.until(me, [&] { return polls.exceptions() >= kMessages && arrived > before; });
    EXPECT(me, polls.exceptions() == kMessages);
    me.endpoint.barrier();
  }
  EXPECT(me, arrived == std::size(kCategories));
}

template <class H>
struct Thrower {
  Member<H>& me;
  std::array<HandlerIndex, 4> handlers{};
  std::uint64_t thrown = 0;
  std::uint64_t counted = 0;
  static Thrower& of(core::Token<H>& token) { return token.template context_as<Thrower>(); }
  static void fail(core::Token<H>& token) {
    ++of(token).thrown;
    throw std::domain_error("a handler's own");
  }
  static void answer_and_fail(core::Token<H>& token) {
    (void)token.reply_short(of(token).handlers[3]);
    fail(token);
  }
  static void let_the_requester_fail(core::Token<H>& token) {
    (void)token.reply_medium(of(token).handlers[0], token.payload(), token.size());
  }
  static void count(core::Token<H>& token) { ++of(token).counted; }
};

// Return the n-th message of its kind. Each Long has its own place, since no sender learns when the handler has read
// the one before.
template <class H>
Message failing_message(Member<H>& me, unsigned n, Category category, HandlerIndex handler,
                        const std::vector<std::byte>& payload) {
  Message m{category, handler, {4}, payload.data(), payload.size()};
  if (category == Category::short_message) m.bytes = 0;
  m.destination = me.endpoint.segment(me.next()).address + n * payload.size();
  return m;
}

template <class H>
void exception_of_a_request_handler_leaves_the_poll_once(Member<H>& me) {
  constexpr unsigned kMessages = 5;
  Thrower<H> state{me};
  using T = Thrower<H>;
  state.handlers =
      register_all<H>(me.endpoint, &state, {&T::fail, &T::answer_and_fail, &T::let_the_requester_fail, &T::count});
  me.endpoint.barrier();
  const std::vector<std::byte> payload(300, std::byte{0xff});
  for (const Category category : kCategories) {
    for (const bool answered : {false, true}) {
      state.thrown = state.counted = 0;
      me.meet();
      Polls<std::domain_error> polls;
      for (unsigned i = 0; i < kMessages; ++i) {
        polls.send(me, me.next(), failing_message(me, i, category, state.handlers[answered ? 1 : 0], payload));
        polls.send(me, me.next(), {Category::short_message, state.handlers[3]});
      }
      const std::uint64_t counted = kMessages * (answered ? 2U : 1U);
      polls.until(me, [&] { return polls.exceptions() >= kMessages && state.counted >= counted; });
      me.endpoint.barrier();
      EXPECT(me, polls.exceptions() == kMessages);
      EXPECT(me, state.thrown == kMessages);
      EXPECT(me, state.counted == counted);
    }
  }
}

// One client at a time: an exception of a reply handler, while a server waits for room for its reply, would end that
// reply.
template <class H>
void exception_of_a_reply_handler_leaves_the_poll_once(Member<H>& me) {
  constexpr unsigned kMessages = 5;
  Thrower<H> state{me};
  using T = Thrower<H>;
  state.handlers =
      register_all<H>(me.endpoint, &state, {&T::fail, &T::answer_and_fail, &T::let_the_requester_fail, &T::count});
  const std::vector<std::byte> payload(300, std::byte{0xff});
  for (std::uint32_t client = 0; client < me.ranks(); ++client) {
    me.endpoint.barrier();
    if (me.self() != client) continue;
    for (const Category category : kCategories) {
      Polls<std::domain_error> polls;
      for (unsigned i = 0; i < kMessages; ++i) {
        polls.send(me, me.next(), failing_message(me, i, category, state.handlers[2], payload));
      }
      polls.until(me, [&] { return polls.exceptions() >= kMessages; });
      EXPECT(me, polls.exceptions() == kMessages);
    }
  }
  me.endpoint.barrier();
  EXPECT(me, state.thrown == kMessages * std::size(kCategories));
}

template <class H>
struct Replies {
  Member<H>& me;
  std::array<HandlerIndex, 5> handlers{};
  std::uint64_t refused = 0;
  std::uint64_t arrived = 0;
  static Replies& of(core::Token<H>& token) { return token.template context_as<Replies>(); }
};

template <class H>
void second_replies_and_replies_to_replies_are_refused(Member<H>& me) {
  Replies<H> state{me};
  state.handlers = register_all<H>(
      me.endpoint, &state,
      {[](core::Token<H>& token) {
         auto& s = Replies<H>::of(token);
         (void)token.reply_short(s.handlers[1]);
         s.refused += throws<UsageError>([&] { (void)token.reply_short(s.handlers[1]); }) ? 1U : 0U;
         s.refused += throws<UsageError>([&] { (void)token.reply_medium(s.handlers[1], nullptr, 0); }) ? 1U : 0U;
       },
       [](core::Token<H>& token) {
         auto& s = Replies<H>::of(token);
         ++s.arrived;
         s.refused += throws<UsageError>([&] { (void)token.reply_short(s.handlers[1]); }) ? 1U : 0U;
         s.refused += throws<UsageError>([&] { (void)token.reply_long(s.handlers[1], nullptr, 0, nullptr); }) ? 1U : 0U;
       },
       // A reply that is too long is an error of the handler, not a truncated message.
       [](core::Token<H>& token) {
         auto& s = Replies<H>::of(token);
         const std::vector<std::byte> payload(token.max_reply_medium(0) + 1);
         s.refused +=
             throws<UsageError>([&] { (void)token.reply_medium(s.handlers[1], payload.data(), payload.size()); }) ? 1U
                                                                                                                  : 0U;
       },
       // A handler may send no reply.
       [](core::Token<H>& token) { ++Replies<H>::of(token).arrived; },
       [](core::Token<H>& token) { (void)token.reply_short(Replies<H>::of(token).handlers[3]); }});
  me.endpoint.barrier();
  // Stage by stage, since requests of another rank count, too.
  (void)me.endpoint.request_short(me.next(), state.handlers[0], Flags::none);
  me.endpoint.wait_until([&] { return state.refused == 4 && state.arrived == 1; });
  me.endpoint.barrier();
  (void)me.endpoint.request_short(me.next(), state.handlers[2], Flags::none);
  me.endpoint.wait_until([&] { return state.refused == 5; });
  (void)me.endpoint.request_short(me.next(), state.handlers[3], Flags::none);
  me.endpoint.wait_until([&] { return state.arrived == 2; });
  me.endpoint.barrier();
  (void)me.endpoint.request_short(me.next(), state.handlers[4], Flags::none);
  me.endpoint.wait_until([&] { return state.arrived == 3; });
  me.endpoint.barrier();
  EXPECT(me, state.refused == 5);
  EXPECT(me, state.arrived == 3);
}

template <class H>
void oversize_and_misaddressed_requests_are_refused_where_they_are_made(Member<H>& me) {
  std::uint64_t arrived = 0;
  const auto handlers = register_all<H>(me.endpoint, &arrived,
                                        {[](core::Token<H>& token) { ++token.template context_as<std::uint64_t>(); }});
  me.endpoint.barrier();
  core::Endpoint<H>& ep = me.endpoint;
  std::byte* const remote = ep.segment(me.next()).address;
  Bytes largest = 0;
  for (std::uint32_t rank = 0; rank < me.ranks(); ++rank) {
    largest = std::max(largest, ep.max_request_medium(Rank{rank}, 0));
  }
  const std::vector<std::byte> payload(largest + 1);
  for (const Flags flags : {Flags::none, Flags::immediate}) {
    for (std::uint32_t step = 0; step < me.ranks(); ++step) {
      const Rank to{(me.self() + step) % me.ranks()};
      EXPECT(me, throws<UsageError>([&] {
               (void)ep.request_medium(to, handlers[0], payload.data(), ep.max_request_medium(to, 0) + 1, flags);
             }));
      // The payload is never read: the call is refused before.
      for (const Bytes bytes : {ep.max_request_long(to, 0) + 1, Bytes{1} << 33, std::numeric_limits<Bytes>::max()}) {
        EXPECT(me, throws<UsageError>(
                       [&] { (void)ep.request_long(to, handlers[0], payload.data(), bytes, remote, flags); }));
      }
    }
    for (const Rank nobody : {Rank{me.ranks()}, Rank{me.ranks() + 1}, Rank{0xffffffffU}}) {
      EXPECT(me, throws<UsageError>([&] { (void)ep.request_short(nobody, handlers[0], flags); }));
      EXPECT(me, throws<UsageError>([&] {
               (void)ep.put_nb(nobody, remote, payload.data(), 8, core::LocalCompletion::defer(), flags);
             }));
      EXPECT(me, throws<UsageError>([&] {
               (void)ep.put_nbi(nobody, remote, payload.data(), 8, core::LocalCompletion::defer(), flags);
             }));
      std::uint64_t word = 0;
      EXPECT(me, throws<UsageError>([&] { (void)ep.get_nb(nobody, &word, remote, 8, flags); }));
      EXPECT(me, throws<UsageError>([&] { (void)ep.get_nbi(nobody, &word, remote, 8, flags); }));
    }
  }
  EXPECT(me, ep.outstanding_operations() == 0);
  EXPECT(me, ep.test_nbi());
  // The exact limits are allowed.
  (void)ep.request_medium(me.next(), handlers[0], payload.data(), ep.max_medium(), Flags::none);
  ep.wait_until([&] { return arrived == 1; });
  ep.barrier();
  EXPECT(me, arrived == 1);
}

}  // namespace

template <class H>
Cases<H> misuse_cases() {
  return {
      {"message_to_an_unregistered_handler_is_an_error_at_the_receiver",
       &message_to_an_unregistered_handler_is_an_error_at_the_receiver<H>},
      {"exception_of_a_request_handler_leaves_the_poll_once", &exception_of_a_request_handler_leaves_the_poll_once<H>},
      {"exception_of_a_reply_handler_leaves_the_poll_once", &exception_of_a_reply_handler_leaves_the_poll_once<H>},
      {"second_replies_and_replies_to_replies_are_refused", &second_replies_and_replies_to_replies_are_refused<H>},
      {"oversize_and_misaddressed_requests_are_refused_where_they_are_made",
       &oversize_and_misaddressed_requests_are_refused_where_they_are_made<H>}};
}

template Cases<RealHost> misuse_cases();
template Cases<ThreadedHost> misuse_cases();
template Cases<sim::ModelHost> misuse_cases();

}  // namespace gasmeter::conformance

// Errors by the specification that only checked builds diagnose: calls in the wrong context, misused descriptors,
// messages that a handler was not registered for. In other builds these cases are empty.
#include <string>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/core/atomics/domain.hpp"
#include "gasmeter/core/negotiated.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

using core::HandlerUse;
using core::LocalCompletion;
using core::Prepared;

// Tell whether the call is refused with a message that contains all of these texts.
template <class Call>
[[nodiscard]] bool refused(Call&& call, std::initializer_list<std::string> named) {
  std::string text;
  try {
    call();
    return false;
  } catch (const UsageError& error) {
    text = error.what();
  }
  for (const std::string& each : named) {
    if (text.find(each) == std::string::npos) return false;
  }
  return true;
}

template <class H>
struct Restricted {
  Member<H>& me;
  std::array<HandlerIndex, 2> handlers{};
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;

  // Make every call except replies.
  void expect_all_refused(const std::string& named) {
    core::Endpoint<H>& ep = me.endpoint;
    const std::string rank = "rank " + std::to_string(me.self());
    std::byte* const remote = ep.segment(me.next()).address;
    std::uint64_t word = 0;
    const auto refuses = [&](const char* call, auto&& what) { return refused(what, {call, named, rank}); };
    EXPECT(me, refuses("request_short", [&] { (void)ep.request_short(me.next(), handlers[1], Flags::none); }));
    EXPECT(me, refuses("request_medium",
                       [&] { (void)ep.request_medium(me.next(), handlers[1], nullptr, 0, Flags::immediate); }));
    EXPECT(me, refuses("request_long",
                       [&] { (void)ep.request_long(me.next(), handlers[1], nullptr, 0, remote, Flags::none); }));
    EXPECT(me, refuses("prepare_medium", [&] { (void)ep.prepare_medium(me.next(), nullptr, 0, 0, 0); }));
    EXPECT(me, refuses("prepare_long", [&] { (void)ep.prepare_long(me.next(), nullptr, 0, 0, remote, 0); }));
    EXPECT(me, refuses("put", [&] { ep.put(me.next(), remote, &word, 8); }));
    EXPECT(me, refuses("get", [&] { ep.get(me.next(), &word, remote, 8); }));
    EXPECT(me, refuses("put_nb", [&] { (void)ep.put_nb(me.next(), remote, &word, 8); }));
    EXPECT(me, refuses("get_nb", [&] { (void)ep.get_nb(me.next(), &word, remote, 8); }));
    EXPECT(me, refuses("put_nbi", [&] { (void)ep.put_nbi(me.next(), remote, &word, 8); }));
    EXPECT(me, refuses("get_nbi", [&] { (void)ep.get_nbi(me.next(), &word, remote, 8); }));
    EXPECT(me, refuses("poll", [&] { (void)ep.poll(); }));
    EXPECT(me, refuses("barrier", [&] { ep.barrier(); }));
    EXPECT(me, refuses("wait_until", [&] { ep.wait_until([] { return true; }); }));
  }

  static void on_request(core::Token<H>& token) {
    auto& self = token.template context_as<Restricted>();
    self.expect_all_refused("handler " + std::to_string(index(token.handler())) + " 'conformance'");
    Prepared<H> sd = token.prepare_medium(nullptr, 8, 8, 0);
    EXPECT(self.me, refused([&] { (void)token.reply_short(self.handlers[1]); }, {"reply_short", "at most once"}));
    self.expect_all_refused("between prepare and commit");
    (void)sd.commit(self.handlers[1], 8, Flags::none);
    EXPECT(self.me, refused([&] { (void)token.prepare_medium(nullptr, 0, 0, 0); }, {"prepare_medium", "at most once"}));
    ++self.requests;
  }
  static void on_reply(core::Token<H>& token) {
    auto& self = token.template context_as<Restricted>();
    self.expect_all_refused("reply handler must not communicate");
    EXPECT(self.me, refused([&] { (void)token.reply_long(self.handlers[1], nullptr, 0, nullptr); },
                            {"reply_long", "reply handler", "rank " + std::to_string(self.me.self())}));
    ++self.replies;
  }
};

template <class H>
void calls_in_handlers_and_beside_prepared_messages_are_diagnosed(Member<H>& me) {
  if constexpr (core::kChecked) {
    Restricted<H> state{me};
    state.handlers = register_all<H>(me.endpoint, &state, {&Restricted<H>::on_request, &Restricted<H>::on_reply});
    me.endpoint.barrier();
    for (unsigned round = 0; round < 2; ++round) {
      Prepared<H> sd = me.endpoint.prepare_medium(me.next(), nullptr, 0, 8, 0);
      state.expect_all_refused("between prepare and commit");
      EXPECT(me, sd.commit(state.handlers[0], 0, Flags::none) == Status::ok);
      me.endpoint.wait_until([&] { return state.replies == round + 1; });  // allowed again
    }
    me.endpoint.wait_until([&] { return state.requests == 2; });
    me.endpoint.barrier();
  }
}

template <class H>
void misused_descriptors_are_diagnosed(Member<H>& me) {
  if constexpr (core::kChecked) {
    std::uint64_t arrived = 0;
    const auto handlers = register_all<H>(
        me.endpoint, &arrived, {[](core::Token<H>& token) { ++token.template context_as<std::uint64_t>(); }});
    me.endpoint.barrier();
    core::Endpoint<H>& ep = me.endpoint;
    std::byte* const remote = ep.segment(me.next()).address;
    const std::string to = "rank " + std::to_string(index(me.next()));
    Prepared<H> sd = ep.prepare_medium(me.next(), nullptr, 16, 16, 2);
    EXPECT(me, refused([&] { (void)sd.commit(handlers[0], 17, Flags::none, 1, 2); }, {"commit", "17 bytes", to}));
    EXPECT(me, refused([&] { (void)sd.commit(handlers[0], 16, Flags::none, 1); }, {"commit", "1 arguments", "told 2"}));
    EXPECT(me, refused([&] { (void)sd.commit_long(handlers[0], 16, remote, Flags::none, 1, 2); }, {"commit_long"}));
    EXPECT(me, sd);
    EXPECT(me, sd.commit(handlers[0], 16, Flags::none, 1, 2) == Status::ok);
    EXPECT(me, refused([&] { (void)sd.commit(handlers[0], 16, Flags::none, 1, 2); }, {"commit", "not prepared"}));
    EXPECT(me, refused([&] { sd.cancel(); }, {"cancel", "not prepared"}));
    EXPECT(me, refused([&] { (void)sd.data(); }, {"data", "not prepared"}));
    sd = ep.prepare_long(me.next(), nullptr, 8, 8, remote, 0);
    EXPECT(me, refused([&] { (void)sd.commit_long(handlers[0], 8, remote + 8, Flags::none); }, {"destination"}));
    EXPECT(me, refused([&] { (void)sd.commit(handlers[0], 8, Flags::none); }, {"commit"}));
    sd.cancel();
    core::Event leaf;
    EXPECT(me, throws<UsageError>(
                   [&] { (void)ep.prepare_medium(me.next(), nullptr, 8, 8, 0, LocalCompletion::event(leaf)); }));
    ep.wait_until([&] { return arrived == 1; });
    ep.barrier();
    EXPECT(me, arrived == 1);
  }
}

// The receiver diagnoses these messages, since it alone knows the handler's registration.
template <class H>
void messages_that_handlers_were_not_registered_for_are_diagnosed(Member<H>& me) {
  if constexpr (core::kChecked) {
    std::uint64_t arrived = 0;
    const core::HandlerFunction<H> count = [](core::Token<H>& token) {
      const core::HandlerEntry<H>* const entry = token.entry();
      if (entry != nullptr && entry->context == token.context() && entry->arguments == token.arguments().size()) {
        ++token.template context_as<std::uint64_t>();
      }
    };
    std::array<core::HandlerEntry<H>, 2> entries{
        core::HandlerEntry<H>{{}, count, &arrived, "two words", HandlerUse::of_short | HandlerUse::request, 2},
        core::HandlerEntry<H>{{}, count, &arrived, "an answer", HandlerUse::of_medlong | HandlerUse::reply}};
    me.endpoint.register_handlers(entries);
    me.endpoint.barrier();
    me.meet();  // an exception must not reach a rank that is still in a barrier
    const HandlerIndex two_words = entries[0].index;
    const HandlerIndex answer = entries[1].index;
    // The rank sends to itself, so that exceptions are thrown here on every path.
    const Rank self = me.endpoint.rank();
    unsigned diagnosed = 0;
    const auto fails = [&](auto&& send, std::initializer_list<std::string> named) {
      const unsigned before = diagnosed;
      const auto once = [&](auto&& call) { diagnosed += refused(call, named) ? 1U : 0U; };
      once(send);
      while (diagnosed == before) {
        once([&] { (void)me.endpoint.poll(); });
        me.linger(1);
      }
    };
    core::Endpoint<H>& ep = me.endpoint;
    const std::string rank_text = "rank " + std::to_string(me.self());
    fails([&] { (void)ep.request_short(self, two_words, Flags::none, 1); },
          {rank_text, "two words", "number of arguments"});
    fails([&] { (void)ep.request_medium(self, two_words, nullptr, 0, Flags::none, 1, 2); }, {rank_text, "category"});
    fails([&] { (void)ep.request_medium(self, answer, nullptr, 0, Flags::none); },
          {rank_text, "an answer", "a request"});
    EXPECT(me, diagnosed == 3);
    EXPECT(me, ep.request_short(self, two_words, Flags::none, 1, 2) == Status::ok);
    ep.wait_until([&] { return arrived == 1; });
    ep.barrier();
  }
}

template <class H>
void operations_outside_their_bounds_are_diagnosed(Member<H>& me) {
  if constexpr (core::kChecked) {
    core::Endpoint<H>& ep = me.endpoint;
    const core::Segment& remote = ep.segment(me.next());
    const std::string rank_text = "rank " + std::to_string(me.self()) + ":";
    const std::string target = "segment of rank " + std::to_string(index(me.next()));
    std::uint64_t word = 0;
    std::byte* const end = remote.address + remote.size;
    EXPECT(me, refused([&] { ep.put(me.next(), end - 4, &word, 8); }, {rank_text, "put of 8 bytes", target}));
    EXPECT(me,
           refused([&] { ep.get(me.next(), &word, remote.address - 1, 8); }, {rank_text, "get", "offset -1", target}));
    EXPECT(me, refused([&] { (void)ep.put_nb(me.next(), end, &word, 1); }, {rank_text, "put_nb", target}));
    EXPECT(me, refused([&] { (void)ep.get_nb(me.next(), &word, end, 1); }, {rank_text, "get_nb", target}));
    EXPECT(me, refused([&] { (void)ep.put_nbi(me.next(), end, &word, 1); }, {rank_text, "put_nbi", target}));
    EXPECT(me, refused([&] { (void)ep.get_nbi(me.next(), &word, end, 1); }, {rank_text, "get_nbi", target}));
    EXPECT(me, refused([&] { (void)ep.request_long(me.next(), HandlerIndex{200}, &word, 8, end - 4, Flags::none); },
                       {rank_text, "request_long of 8 bytes", target}));
    Prepared<H> sd = ep.prepare_long(me.next(), nullptr, 8, 8, nullptr, 0);
    EXPECT(me, refused([&] { (void)sd.commit_long(HandlerIndex{200}, 8, end, Flags::none); },
                       {rank_text, "commit_long of 8 bytes", target}));
    EXPECT(me, sd);
    sd.cancel();
    ep.put(me.next(), end, &word, 0);  // 0 bytes
    ep.begin_access_region();
    EXPECT(me, refused([&] { ep.wait_nbi(); }, {rank_text, "inside an access region"}));
    EXPECT(me, refused([&] { (void)ep.test_nbi(core::EventSet::get); }, {rank_text, "inside an access region"}));
    core::Event region = ep.end_access_region();
    ep.wait(region);
    ep.wait_nbi();
    core::AtomicDomain<H, std::uint64_t> domain(ep, {core::AtomicOp::add});
    auto* const at = reinterpret_cast<std::uint64_t*>(remote.address);
    EXPECT(me, refused([&] { domain.template nb<core::AtomicOp::add>(nullptr, me.next(), at, 1, 0, Flags::my_rank); },
                       {rank_text, "my_rank"}));
    ep.barrier();
  } else {
    (void)me;
  }
}

}  // namespace

template <class H>
Cases<H> restricted_cases() {
  constexpr bool kCheckedOnly = true;
  return {{"calls_in_handlers_and_beside_prepared_messages_are_diagnosed",
           &calls_in_handlers_and_beside_prepared_messages_are_diagnosed<H>,
           {},
           kCheckedOnly},
          {"misused_descriptors_are_diagnosed", &misused_descriptors_are_diagnosed<H>, {}, kCheckedOnly},
          {"messages_that_handlers_were_not_registered_for_are_diagnosed",
           &messages_that_handlers_were_not_registered_for_are_diagnosed<H>,
           {},
           kCheckedOnly},
          {"operations_outside_their_bounds_are_diagnosed",
           &operations_outside_their_bounds_are_diagnosed<H>,
           {},
           kCheckedOnly}};
}

template Cases<RealHost> restricted_cases();
template Cases<ThreadedHost> restricted_cases();
template Cases<sim::ModelHost> restricted_cases();

}  // namespace gasmeter::conformance

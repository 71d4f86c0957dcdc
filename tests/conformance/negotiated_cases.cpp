// Negotiated-payload messages: prepare, commit and cancel, in requests and replies, with either side's buffer.
#include <algorithm>
#include <cstring>
#include <utility>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/core/negotiated.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

using core::LocalCompletion;
using core::Prepared;
using testing::has_pattern;
using testing::seed_of;
using testing::write_pattern;

constexpr Bytes kPlace = 8 * 1024;  // bytes of a segment, per peer and direction
constexpr std::size_t kMarkWaiting = 0;
constexpr std::size_t kMarkGo = 1;
constexpr std::size_t kSent = 3;  // number of messages that wait at rank 0

// Requests answered by the same category, all with negotiated payload. Arguments: number, bytes, category, client's
// buffer.
template <class H>
struct Negotiations {
  explicit Negotiations(Member<H>& member) : me(member), replying(kPlace) {
    handlers = register_all<H>(me.endpoint, this, {&on_request, &on_reply});
    me.endpoint.barrier();
  }
  Member<H>& me;
  std::array<HandlerIndex, 2> handlers{};
  std::vector<std::byte> replying;
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;

  static Negotiations& of(core::Token<H>& token) { return token.template context_as<Negotiations>(); }
  [[nodiscard]] std::byte* place(Rank owner, std::uint32_t from, bool request) const {
    return me.endpoint.segment(owner).address + (2 * from + (request ? 0 : 1)) * kPlace + 1;
  }
  void check(core::Token<H>& token, bool request) {
    const std::uint32_t source = index(token.source());
    EXPECT(me, token.arguments().size() == 4);
    EXPECT(me, token.size() == static_cast<Bytes>(token.argument(1)));
    EXPECT(me, token.is_long() == (token.argument(2) != 0));
    EXPECT(me, has_pattern(token.payload(), token.size(), seed_of(source, token.argument(0), request)));
    if (token.is_long()) {
      EXPECT(me, token.payload() == place(me.endpoint.rank(), source, request));
    } else if (token.size() != 0) {
      EXPECT(me, reinterpret_cast<std::uintptr_t>(token.payload()) % 16 == 0);
    }
    me.saw(source + token.size());
  }
  static void on_request(core::Token<H>& token) {
    Negotiations& self = of(token);
    self.check(token, true);
    ++self.requests;
    const bool with_client = token.argument(3) != 0;
    void* const client = with_client ? self.replying.data() : nullptr;
    const Bytes bytes = token.size();
    std::byte* const remote = self.place(token.source(), self.me.self(), false);
    // The reply is cancelled once, then sent.
    for (const bool given_up : {true, false}) {
      Prepared<H> sd = token.is_long() ? token.prepare_long(client, bytes, bytes, given_up ? nullptr : remote, 4)
                                       : token.prepare_medium(client, bytes, bytes + 5, 4);
      EXPECT(self.me, sd);
      EXPECT(self.me, sd.size() >= bytes);
      write_pattern(sd.data(), bytes, seed_of(self.me.self(), token.argument(0), given_up ? 2 : 0));
      if (given_up) {
        sd.cancel();
      } else if (token.is_long()) {
        (void)sd.commit_long(self.handlers[1], bytes, remote, Flags::none, token.argument(0), token.argument(1), 1, 0);
      } else {
        (void)sd.commit(self.handlers[1], bytes, Flags::none, token.argument(0), token.argument(1), 0, 0);
      }
      EXPECT(self.me, !sd);
    }
    if (with_client) std::memset(self.replying.data(), 0xff, bytes);  // LocalCompletion::now()
  }
  static void on_reply(core::Token<H>& token) {
    Negotiations& self = of(token);
    self.check(token, false);
    ++self.replies;
  }
};

// Every combination of arguments, at the sizes at which layouts change.
template <class H>
void negotiated_payloads_arrive_as_generated(Member<H>& me) {
  Negotiations<H> state(me);
  core::Endpoint<H>& ep = me.endpoint;
  std::vector<std::byte> source(kPlace);
  const Bytes most_medium = std::min<Bytes>(ep.max_medium(), kPlace - 8);
  const Bytes most_long = std::min<Bytes>(ep.max_long(), kPlace - 8);
  std::int32_t number = 0;
  for (const Rank to : {me.endpoint.rank(), me.next()}) {
    for (const bool is_long : {false, true}) {
      const Bytes most = is_long ? most_long : most_medium;
      for (const Bytes bytes : {Bytes{0}, Bytes{1}, Bytes{7}, Bytes{64}, Bytes{501}, most - 1, most}) {
        for (const unsigned how : {0U, 1U, 2U, 3U, 4U}) {
          const bool with_client = how >= 2;
          const Bytes least = how % 2 == 0 ? bytes : 0;
          const Bytes upper = how == 1 ? most + 1 : bytes;  // more than is sent; at the edge, beyond the limit
          core::Event leaf;
          const LocalCompletion local = how < 3   ? LocalCompletion::now()
                                        : how < 4 ? LocalCompletion::group()
                                                  : LocalCompletion::event(leaf);
          std::byte* const remote = state.place(to, me.self(), true);
          void* const client = with_client ? source.data() : nullptr;
          Prepared<H> sd = is_long
                               ? ep.prepare_long(to, client, least, upper, how % 2 == 0 ? remote : nullptr, 4, local)
                               : ep.prepare_medium(to, client, least, upper, 4, local);
          EXPECT(me, sd);
          EXPECT(me, sd.size() >= least && sd.size() <= upper);
          EXPECT(me, !with_client || sd.data() == client);
          if (!with_client && bytes != 0) EXPECT(me, reinterpret_cast<std::uintptr_t>(sd.data()) % 8 == 0);
          const Bytes sent = std::min(bytes, sd.size());
          write_pattern(sd.data(), sent, seed_of(me.self(), number, 1));
          // Unsent bytes must not be visible, neither in this message nor in the next.
          if (!with_client && sd.size() > sent) {
            std::memset(static_cast<std::byte*>(sd.data()) + sent, 0xee, std::min<Bytes>(sd.size() - sent, 3000));
          }
          const auto size = static_cast<std::int32_t>(sent);
          const std::int32_t answer_with_client = with_client ? 1 : 0;
          const Status status =
              is_long
                  ? sd.commit_long(state.handlers[0], sent, remote, Flags::none, number, size, 1, answer_with_client)
                  : sd.commit(state.handlers[0], sent, Flags::none, number, size, 0, answer_with_client);
          EXPECT(me, status == Status::ok);
          EXPECT(me, !sd);
          if (how == 3) ep.wait_nbi(core::EventSet::am);
          if (how == 4) ep.wait(leaf);
          if (with_client) std::memset(source.data(), 0xff, bytes);
          ++number;
          ep.wait_until([&] { return state.replies == static_cast<std::uint64_t>(number); });
        }
      }
    }
  }
  ep.wait_until([&] { return state.requests == static_cast<std::uint64_t>(number); });
  ep.barrier();
}

// Messages prepared and cancelled, between messages that are sent, through rings and windows that become full.
template <class H>
void cancelled_messages_leave_nothing(Member<H>& me) {
  struct State {
    Member<H>& me;
    std::vector<std::int32_t> next;
  } state{me, std::vector<std::int32_t>(me.ranks())};
  const auto handlers =
      register_all<H>(me.endpoint, &state, {[](core::Token<H>& token) {
                        auto& self = token.template context_as<State>();
                        const std::uint32_t source = index(token.source());
                        EXPECT(self.me, has_pattern(token.payload(), token.size(), seed_of(source, token.argument(0))));
                        self.me.saw(token.size());
                        ++self.next[source];
                      }});
  me.endpoint.barrier();
  const auto count = static_cast<std::int32_t>(rounds(60));
  const Bytes most = std::min<Bytes>(me.endpoint.max_medium(), 1500);
  for (std::int32_t i = 0; i < count; ++i) {
    for (std::uint32_t step = 0; step < me.ranks(); ++step) {
      const Rank to{(me.self() + step) % me.ranks()};
      for (unsigned given_up = 0; given_up < 2; ++given_up) {
        Prepared<H> sd = me.endpoint.prepare_medium(to, nullptr, 0, 1 + me.random() % most, 1);
        std::memset(sd.data(), 0xdd, sd.size());
        if (given_up == 0) sd.cancel();  // otherwise the destructor cancels
      }
      const Bytes bytes = me.random() % most;
      Prepared<H> sd = me.endpoint.prepare_medium(to, nullptr, bytes, most, 1);
      std::memset(sd.data(), 0xdd, sd.size());
      write_pattern(sd.data(), bytes, seed_of(me.self(), i));
      Prepared<H> moved = std::move(sd);
      EXPECT(me, moved.commit(handlers[0], bytes, Flags::none, i) == Status::ok);
      if (i % 3 == 0) {
        EXPECT(me, me.endpoint.request_medium(to, handlers[0], nullptr, 0, Flags::none, i) == Status::ok);
      } else if (i % 3 == 1) {
        EXPECT(me, me.endpoint.request_short(to, handlers[0], Flags::none, i) == Status::ok);
      }
    }
  }
  const std::int32_t all = count + (count + 2) / 3 + (count + 1) / 3;
  me.endpoint.wait_until(
      [&] { return std::all_of(state.next.begin(), state.next.end(), [&](auto n) { return n == all; }); });
  me.endpoint.barrier();
}

// Rank 0 prepares and commits until it is refused while messages wait for it. Rank 1 does not poll.
template <class H>
void immediate_prepares_are_refused_and_nothing_is_polled(Member<H>& me) {
  struct State {
    std::uint64_t arrived = 0;
  } state;
  const auto handlers = register_all<H>(me.endpoint, &state,
                                        {[](core::Token<H>& token) { ++token.template context_as<State>().arrived; }});
  me.endpoint.barrier();
  std::uint64_t mark = 0;
  for (const bool is_long : {false, true}) {
    ++mark;
    state.arrived = 0;
    me.meet();
    if (me.self() == 0) {
      me.await_posted(kMarkWaiting, mark);
      me.linger(10'000 / (H::kModelled ? 1 : 100));
      std::uint64_t accepted = 0;
      unsigned refused = 0;  // in a row, since a single refusal may be an injected fault
      const Bytes bytes = is_long ? 64 : me.endpoint.max_medium();
      std::byte* const remote = me.endpoint.segment(Rank{1}).address;
      const auto try_once = [&](Flags flags) {
        Prepared<H> sd =
            is_long ? me.endpoint.prepare_long(Rank{1}, nullptr, bytes, bytes, remote, 1, LocalCompletion::now(), flags)
                    : me.endpoint.prepare_medium(Rank{1}, nullptr, bytes, bytes, 1, LocalCompletion::now(), flags);
        if (!sd) return false;
        std::memset(sd.data(), 0x11, bytes);
        // After a refused commit the message is still prepared, to be committed or cancelled.
        for (int attempt = 0; attempt < 4; ++attempt) {
          const Status status = is_long ? sd.commit_long(handlers[0], bytes, remote, Flags::immediate, attempt)
                                        : sd.commit(handlers[0], bytes, Flags::immediate, attempt);
          if (status == Status::ok) return true;
          EXPECT(me, sd);
          EXPECT(me, sd.size() == bytes);
        }
        return false;
      };
      while (accepted < 200'000 && refused < 8) {
        const bool sent = try_once(Flags::immediate);
        accepted += sent ? 1U : 0U;
        refused = sent ? 0 : refused + 1;
      }
      EXPECT(me, accepted > 0);
      EXPECT(me, accepted < 200'000);
      EXPECT(me, state.arrived == 0);
      EXPECT(me, me.endpoint.outstanding_operations() == 0);
      me.saw(accepted);
      me.post(2, accepted);
      me.post(kMarkGo, mark);
      me.endpoint.wait_until([&] { return state.arrived == me.posted(kSent); });
      while (!try_once(Flags::none)) me.endpoint.poll();
    } else if (me.self() == 1) {
      const std::uint64_t sent = send_up_to_three(me.endpoint, Rank{0}, handlers[0]);
      EXPECT(me, sent > 0);
      me.post(kSent, sent);
      me.post(kMarkWaiting, mark);
      me.await_posted(kMarkGo, mark);
      EXPECT(me, state.arrived == 0);
      const std::uint64_t all = me.posted(2) + 1;
      me.endpoint.wait_until([&] { return state.arrived >= all; });
      EXPECT(me, state.arrived == all);
    }
    me.endpoint.barrier();
  }
}

// Limits are constant, equal in both directions, at least 512 and never larger with more arguments. A payload at the
// limit is allowed, one byte more is refused.
template <class H>
void limits_hold_at_their_edges(Member<H>& me) {
  struct State {
    Member<H>& me;
    std::uint64_t arrived = 0;
    std::array<HandlerIndex, 2> handlers{};
    std::vector<std::byte> payload{};
  } state{me};
  state.handlers = register_all<H>(
      me.endpoint, &state,
      {[](core::Token<H>& token) {
         auto& self = token.template context_as<State>();
         const Bytes most = token.max_reply_medium(0);
         EXPECT(self.me, most == self.me.endpoint.max_reply_medium(token.source(), 0));
         EXPECT(self.me, throws<UsageError>([&] { (void)token.prepare_medium(nullptr, most + 1, most + 1, 0); }));
         self.payload.resize(most);
         (void)token.reply_medium(self.handlers[1], self.payload.data(), most);
       },
       [](core::Token<H>& token) {
         auto& self = token.template context_as<State>();
         EXPECT(self.me, token.size() == self.me.endpoint.max_reply_medium(token.source(), 0));
         ++self.arrived;
       }});
  me.endpoint.barrier();
  core::Endpoint<H>& ep = me.endpoint;
  std::uint64_t expected = 0;
  for (std::uint32_t peer = 0; peer < me.ranks(); ++peer) {
    const Rank to{peer};
    Bytes before = ep.max_request_medium(to, 0);
    for (unsigned arguments = 0; arguments <= conduit::kMaxArguments; ++arguments) {
      const Bytes medium = ep.max_request_medium(to, arguments);
      EXPECT(me, medium <= before && medium >= 512 && medium >= ep.max_medium());
      before = medium;
      EXPECT(me, ep.max_reply_medium(to, arguments) >= ep.max_medium());
      EXPECT(me, ep.max_request_long(to, arguments) >= ep.max_long());
      EXPECT(me, ep.max_reply_long(to, arguments) >= ep.max_long());
    }
    const Bytes most = ep.max_request_medium(to, 0);
    const Bytes most_long = ep.max_request_long(to, 0, Flags::prepare_least_alloc);
    EXPECT(me, most_long >= 512);
    EXPECT(me, throws<UsageError>([&] { (void)ep.prepare_medium(to, nullptr, most + 1, most + 1, 0); }));
    EXPECT(me, throws<UsageError>([&] { (void)ep.prepare_medium(to, nullptr, 2, 1, 0); }));
    EXPECT(me, throws<UsageError>([&] { (void)ep.prepare_long(to, nullptr, most_long + 1, ~Bytes{0}, nullptr, 0); }));
    EXPECT(me, throws<UsageError>([&] { (void)ep.prepare_medium(Rank{me.ranks()}, nullptr, 0, 0, 0); }));
    Prepared<H> sd = ep.prepare_medium(to, nullptr, most, ~Bytes{0}, 0);
    EXPECT(me, sd.size() == most);
    std::memset(sd.data(), 0x22, most);
    EXPECT(me, sd.commit(state.handlers[0], most, Flags::none) == Status::ok);
    ++expected;
    ep.wait_until([&] { return state.arrived == expected; });
  }
  ep.barrier();
}

}  // namespace

template <class H>
Cases<H> negotiated_cases() {
  return {{"negotiated_payloads_arrive_as_generated", &negotiated_payloads_arrive_as_generated<H>},
          {"cancelled_messages_leave_nothing", &cancelled_messages_leave_nothing<H>},
          {"immediate_prepares_are_refused_and_nothing_is_polled",
           &immediate_prepares_are_refused_and_nothing_is_polled<H>},
          {"limits_hold_at_their_edges", &limits_hold_at_their_edges<H>}};
}

template Cases<RealHost> negotiated_cases();
template Cases<ThreadedHost> negotiated_cases();
template Cases<sim::ModelHost> negotiated_cases();

}  // namespace gasmeter::conformance

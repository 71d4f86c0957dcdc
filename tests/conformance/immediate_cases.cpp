// Flags::immediate: an operation that cannot start at once is refused. The call polls nothing, starts nothing and
// keeps nothing.
#include <algorithm>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

constexpr std::uint64_t kMostAttempts = 200'000;  // far more than any ring or send queue holds
constexpr std::size_t kMarkWaiting = 0;           // board: rank 1's messages wait at rank 0
constexpr std::size_t kMarkGo = 1;                // rank 1 may poll
constexpr std::size_t kSent = 3;                  // number of those messages

template <class H>
struct Refusals {
  explicit Refusals(Member<H>& member) : me(member) {
    handlers = register_all<H>(me.endpoint, this,
                               {[](core::Token<H>& token) { ++token.template context_as<Refusals>().arrived; }});
    me.endpoint.barrier();
  }
  Member<H>& me;
  std::array<HandlerIndex, 1> handlers{};
  std::uint64_t arrived = 0;
};

// Rank 0 sends until it is refused while messages wait for it. Rank 1 does not poll.
template <class H>
void full_rings_refuse_and_nothing_is_polled(Member<H>& me) {
  Refusals<H> state(me);
  std::vector<std::byte> payload(me.endpoint.max_medium());
  std::uint64_t mark = 0;
  for (const Category category : kCategories) {
    ++mark;
    state.arrived = 0;
    me.meet();
    if (me.self() == 0) {
      me.await_posted(kMarkWaiting, mark);
      me.linger(10'000 / (H::kModelled ? 1 : 100));  // in virtual time: until the NIC holds the messages
      Message m{category, state.handlers[0], {1, 2}, payload.data(), 0, nullptr, Flags::immediate};
      if (category == Category::medium) m.bytes = payload.size();
      if (category == Category::long_message) {
        m.bytes = 64;
        m.destination = me.endpoint.segment(Rank{1}).address;
      }
      std::uint64_t accepted = 0;
      unsigned refused = 0;  // in a row, since a single refusal may be an injected fault
      while (accepted < kMostAttempts && refused < 8) {
        const bool sent = send_request(me.endpoint, Rank{1}, m) == Status::ok;
        accepted += sent ? 1U : 0U;
        refused = sent ? 0 : refused + 1;
      }
      EXPECT(me, accepted > 0);
      EXPECT(me, accepted < kMostAttempts);
      EXPECT(me, state.arrived == 0);
      EXPECT(me, me.endpoint.outstanding_operations() == 0);
      me.saw(accepted);
      me.post(2, accepted);
      me.post(kMarkGo, mark);
      me.endpoint.wait_until([&] { return state.arrived == me.posted(kSent); });
      // When there is room again, the message is accepted.
      me.endpoint.wait_until([&] { return send_request(me.endpoint, Rank{1}, m) == Status::ok; });
    } else if (me.self() == 1) {
      const std::uint64_t sent = send_up_to_three(me.endpoint, Rank{0}, state.handlers[0]);
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

// Puts and gets complete at once, start, or are refused. Refused ones leave nothing behind.
template <class H>
void refused_transfers_leave_nothing(Member<H>& me) {
  Refusals<H> state(me);
  const core::Segment& remote = me.endpoint.segment(me.next());
  std::vector<std::uint64_t> words(2'000, 0x5555);
  const std::size_t remote_words = remote.size / sizeof(std::uint64_t) / 2;
  const Bytes of_get = remote.size / 2;
  std::uint64_t started = 0;
  std::uint64_t refused = 0;
  std::vector<core::Event> events;
  for (std::size_t i = 0; i < words.size(); ++i) {
    void* to = remote.address + (i % remote_words) * sizeof(std::uint64_t);
    core::Event leaf = core::Event::no_op();
    core::Event event = i % 2 == 0
                            ? me.endpoint.put_nb(me.next(), to, &words[i], sizeof words[i],
                                                 core::LocalCompletion::event(leaf), Flags::immediate)
                            : me.endpoint.get_nb(me.next(), &words[i], remote.address + of_get + (i % remote_words) * 8,
                                                 sizeof words[i], Flags::immediate);
    if (event.is_no_op()) {
      ++refused;
      EXPECT(me, throws<UsageError>([&] { (void)me.endpoint.test(event); }));
    } else {
      ++started;
      if (i % 2 == 0) me.endpoint.wait(leaf);
      events.push_back(event);
    }
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Status put =
        me.endpoint.put_nbi(me.next(), remote.address, &words[i], 8, core::LocalCompletion::defer(), Flags::immediate);
    const Status get = me.endpoint.get_nbi(me.next(), &words[i], remote.address + of_get, 8, Flags::immediate);
    for (const Status status : {put, get}) {
      started += status == Status::ok ? 1U : 0U;
      refused += status == Status::no_resource ? 1U : 0U;
    }
  }
  EXPECT(me, started + refused == 3 * words.size());
  EXPECT(me, started != 0);
  me.saw(started);
  for (core::Event& event : events) me.endpoint.wait(event);
  me.endpoint.wait_nbi();
  EXPECT(me, me.endpoint.outstanding_operations() == 0);
  EXPECT(me, me.endpoint.test_nbi());
  me.endpoint.barrier();
}

// A rank that polls between attempts gets a transfer of any size into an idle network. It may take several attempts,
// and the source is free as requested.
template <class H>
void an_idle_network_takes_immediate_transfers_of_every_size(Member<H>& me) {
  core::Endpoint<H>& ep = me.endpoint;
  ep.barrier();
  if (me.self() != 0) {
    ep.barrier();
    return;
  }
  constexpr unsigned kMostTries = 100;
  std::byte* const remote = ep.segment(me.next()).address;
  const Bytes most = ep.segment().size;
  std::vector<std::byte> source(most);
  std::vector<std::byte> read_back(most);
  unsigned form = 0;
  const auto try_often = [&](auto&& attempt) {
    for (unsigned tries = 0; tries < kMostTries; ++tries) {
      if (attempt()) return true;
      ep.poll();
    }
    return false;
  };
  for (const Bytes bytes : {Bytes{1}, Bytes{512}, Bytes{4096}, Bytes{4097}, Bytes{65'536}, Bytes{100'001}, most}) {
    for (unsigned i = 0; i < 3; ++i) {
      const std::uint64_t seed = testing::seed_of(bytes, ++form);
      testing::write_pattern(source.data(), bytes, seed);
      core::Event leaf = core::Event::done();
      core::Event put;
      const core::LocalCompletion local = i == 0   ? core::LocalCompletion::now()
                                          : i == 1 ? core::LocalCompletion::event(leaf)
                                                   : core::LocalCompletion::defer();
      EXPECT(me, try_often([&] {
               put = ep.put_nb(me.next(), remote, source.data(), bytes, local, Flags::immediate);
               return !put.is_no_op();
             }));
      if (put.is_no_op()) continue;
      if (i == 1) ep.wait(leaf);
      if (i == 2) ep.wait(put);
      std::fill(source.begin(), source.end(), std::byte{0xff});
      ep.wait(put);
      EXPECT(me, try_often([&] {
               return ep.get_nbi(me.next(), read_back.data(), remote, bytes, Flags::immediate) == Status::ok;
             }));
      ep.wait_nbi();
      EXPECT(me, testing::has_pattern(read_back.data(), bytes, seed));
      EXPECT(me, ep.outstanding_operations() == 0);
    }
  }
  ep.barrier();
}

}  // namespace

template <class H>
Cases<H> immediate_cases() {
  return {{"full_rings_refuse_and_nothing_is_polled", &full_rings_refuse_and_nothing_is_polled<H>},
          {"refused_transfers_leave_nothing", &refused_transfers_leave_nothing<H>},
          {"an_idle_network_takes_immediate_transfers_of_every_size",
           &an_idle_network_takes_immediate_transfers_of_every_size<H>}};
}

template Cases<RealHost> immediate_cases();
template Cases<ThreadedHost> immediate_cases();
template Cases<sim::ModelHost> immediate_cases();

}  // namespace gasmeter::conformance

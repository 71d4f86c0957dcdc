// Flags::immediate: an operation that cannot start at once is refused; nothing is polled, started or kept.
#include <algorithm>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

constexpr std::uint64_t kMostAttempts = 200'000;  // far more than any ring or send queue holds
constexpr std::size_t kMarkWaiting = 0;           // board: rank 1's messages lie before rank 0
constexpr std::size_t kMarkGo = 1;                // rank 1 may poll
constexpr std::size_t kSent = 3;                  // how many of those there are

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

// Rank 0 sends until it is refused while messages wait before it, and rank 1 does not poll.
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
      me.linger(10'000 / (H::kModelled ? 1 : 100));  // virtual time: until the NIC holds them
      Message m{category, state.handlers[0], {1, 2}, payload.data(), 0, nullptr, Flags::immediate};
      if (category == Category::medium) m.bytes = payload.size();
      if (category == Category::long_message) {
        m.bytes = 64;
        m.destination = me.endpoint.segment(Rank{1}).address;
      }
      std::uint64_t accepted = 0;
      unsigned refused = 0;  // in a row: one alone may be an injected fault
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
      // Room comes back, and then it is accepted again.
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

// Puts and gets complete at once or start or are refused; the refused leave nothing behind.
template <class H>
void refused_transfers_leave_nothing(Member<H>& me) {
  Refusals<H> state(me);
  const core::Segment& there = me.endpoint.segment(me.next());
  std::vector<std::uint64_t> words(2'000, 0x5555);
  const std::size_t words_there = there.size / sizeof(std::uint64_t) / 2;
  const Bytes of_get = there.size / 2;
  std::uint64_t started = 0;
  std::uint64_t refused = 0;
  std::vector<core::Event> events;
  for (std::size_t i = 0; i < words.size(); ++i) {
    void* to = there.address + (i % words_there) * sizeof(std::uint64_t);
    core::Event leaf = core::Event::no_op();
    core::Event event = i % 2 == 0
                            ? me.endpoint.put_nb(me.next(), to, &words[i], sizeof words[i],
                                                 core::LocalCompletion::event(leaf), Flags::immediate)
                            : me.endpoint.get_nb(me.next(), &words[i], there.address + of_get + (i % words_there) * 8,
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
        me.endpoint.put_nbi(me.next(), there.address, &words[i], 8, core::LocalCompletion::defer(), Flags::immediate);
    const Status get = me.endpoint.get_nbi(me.next(), &words[i], there.address + of_get, 8, Flags::immediate);
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

// More than one fragment at once may be refused for ever, but never by half.
template <class H>
void immediate_transfer_of_many_fragments_is_whole_or_refused(Member<H>& me) {
  Refusals<H> state(me);
  const core::Segment& there = me.endpoint.segment(me.next());
  std::vector<std::byte> data(there.size, std::byte{0x33});
  core::Event put = me.endpoint.put_nb(me.next(), there.address, data.data(), data.size(),
                                       core::LocalCompletion::defer(), Flags::immediate);
  if (!put.is_no_op()) me.endpoint.wait(put);
  me.endpoint.barrier();
  const std::byte* const here = me.endpoint.segment().address;
  EXPECT(me, testing::is_filled(here, there.size, 0) || testing::is_filled(here, there.size, 0x33));
  me.endpoint.barrier();
  core::Event get = me.endpoint.get_nb(me.next(), data.data(), there.address, data.size(), Flags::immediate);
  if (!get.is_no_op()) me.endpoint.wait(get);
  EXPECT(me, me.endpoint.outstanding_operations() == 0);
  me.endpoint.barrier();
}

}  // namespace

template <class H>
Cases<H> immediate_cases() {
  return {{"full_rings_refuse_and_nothing_is_polled", &full_rings_refuse_and_nothing_is_polled<H>},
          {"refused_transfers_leave_nothing", &refused_transfers_leave_nothing<H>},
          {"immediate_transfer_of_many_fragments_is_whole_or_refused",
           &immediate_transfer_of_many_fragments_is_whole_or_refused<H>}};
}

template Cases<RealHost> immediate_cases();
template Cases<ThreadedHost> immediate_cases();
template Cases<sim::ModelHost> immediate_cases();

}  // namespace gasmeter::conformance
